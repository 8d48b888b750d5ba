"""
Thin Airflow DAGs, one per file; `defaults` and `runtime` are what they share.

Airflow parses the files of this folder by path, and puts only the folder itself on the import path.
The DAGs import their siblings as `evenkeel.dags.defaults` and `evenkeel.dags.runtime`, that is from the installed
project: it works the same for a checkout installed in place, for a wheel (the DAG folder is then
`dirname(dags.__file__)`) and for copies of the DAG files in a folder of your own beside an
installed wheel.
"""
