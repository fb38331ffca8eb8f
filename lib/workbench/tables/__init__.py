"""What an Iceberg table is and did."""
