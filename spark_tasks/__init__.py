"""What runs on Spark: functions of the engine over chunks of groups. See docs/how-to/run-spark-on-a-cluster.md."""
