"""Hudi tables, read from their timeline by PyArrow and fastavro alone.

timeline   what happened to a table: instants, their commits, the settings in hoodie.properties
properties that settings file
slices     its live files at a version
schemas    its schema as Iceberg's
looking    what it has that Iceberg has not
reading    its rows, read by hudi-rs for the comparison
replaying  its rows, read by DuckDB from what hudi-rs's timeline leaves
"""
