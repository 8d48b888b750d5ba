"""How workers are asked, and what is made of their words, without Spark."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from pyspark import cloudpickle
from pyspark.errors.exceptions.connect import SparkConnectGrpcException

from evenkeel.spark_tasks import workers


def test_of_a_call_that_nobody_answered_only_the_details_are_said():
    """The library's own text has many lines."""
    text = (
        '<RPC that terminated with:\n\tstatus = UNAVAILABLE\n\tdetails = "nobody is there"\n\tmore>'
    )
    assert "nobody is there" == workers.cause(SparkConnectGrpcException(text))
    assert "a first line" == workers.cause(SparkConnectGrpcException("\n  a first line.\n at x"))


@pytest.mark.slow
def test_workers_need_nothing_of_ours_to_be_asked():
    """What asks them travels whole: a Python that cannot import evenkeel reads and runs it."""
    ask = cloudpickle.dumps(workers.asking("print(1)", "", {}))
    code = (
        "import sys; sys.modules['evenkeel'] = None\n"
        f"import pickle; print(pickle.loads({ask!r})(iter([])).__next__()['said'].to_pylist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "['1\\n']" == done.stdout.strip(), done.stderr
    assert pickle.loads(ask)
