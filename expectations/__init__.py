"""
Data validation, as Great Expectations suites in Python.

Importing Great Expectations takes seconds: import these modules inside a task, never while a DAG file is parsed.
"""

import logging

# it tells of itself in 200 lines, most of them while it is imported; what it finds comes as results and errors
logging.getLogger("great_expectations").setLevel(logging.ERROR)
logging.getLogger("great_expectations").propagate = False
logging.getLogger("great_expectations").addHandler(logging.NullHandler())
