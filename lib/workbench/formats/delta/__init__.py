"""Delta tables, read from their log by PyArrow alone.

log        the state of a version: protocol, metadata, live files
schemas    its schema as Iceberg's, with the field ids that the files have
vectors    its deletion vectors, byte for byte as Iceberg has them
partitions values of partition columns, as Iceberg's JSON has them
"""
