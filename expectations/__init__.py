"""
What the data must be like, as Great Expectations suites in Python.

Importing Great Expectations costs seconds: import these modules inside a task, never while a DAG file is parsed.
"""
