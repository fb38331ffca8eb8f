"""Where records come from: shards of a Kinesis stream, partitions of a Kafka topic."""
