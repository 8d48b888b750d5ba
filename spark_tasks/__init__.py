"""What runs on Spark: chunks of groups through the functions of the engine, and thin mains; see `README.md`."""
