"""Steps that run on Spark: groups in chunks, with the functions of the engine. See `README.md`."""
