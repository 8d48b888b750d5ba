"""The steps that run on Spark: pure `DataFrame -> DataFrame` functions and thin mains."""
