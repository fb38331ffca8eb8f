"""What the bytes of a record hold: JSON, Avro and Protobuf by a declared schema, or a reason why they do not.

The parts:

    parsing, types, schemas      strict JSON
    avro, protobuf, framing      records with a schema of their own
    avro_values, avro_logical,
    avro_resolution, varints     how these are written
    aggregates                   records that the Kinesis Producer Library packed into one

Where records come from, and what becomes of them, is not known here.
"""
