"""What a record holds: JSON, Avro and Protobuf, read into rows or refused with a reason."""
