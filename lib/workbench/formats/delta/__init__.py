"""Delta tables, read from their log by PyArrow alone.

log        the state of a version: protocol, metadata, live files
schemas    its schema as Iceberg's, with the field ids that the files have
vectors    its deletion vectors, byte for byte as Iceberg has them
looking    what it has that Iceberg has not
"""
