"""The DAGs of evenkeel, as installed; Airflow reads files that speak of airflow and a dag."""

from evenkeel.dags import all_dags

globals().update(all_dags())
