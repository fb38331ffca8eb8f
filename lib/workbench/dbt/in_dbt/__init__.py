"""What runs inside dbt's own environment: the standard library, dbt, and our session for dbt-spark."""
