"""Many clusters on one Airflow, simulated; what Airflow takes for a task, and Spark's step on several workers."""
