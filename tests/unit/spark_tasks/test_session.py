"""What is said of a session, without Spark."""

from __future__ import annotations

import pytest
from grpc import StatusCode
from pyspark.errors.exceptions.connect import PythonException, SparkConnectGrpcException

from evenkeel.spark_tasks import session
from evenkeel.spark_tasks.session import is_lost


@pytest.mark.parametrize(
    ("problem", "lost"),
    [
        (SparkConnectGrpcException("gone", grpc_status_code=StatusCode.UNAVAILABLE), True),
        (SparkConnectGrpcException("x", errorClass="INVALID_HANDLE.SESSION_NOT_FOUND"), True),
        (PythonException("x", errorClass="PYTHON_EXCEPTION"), False),
        (SparkConnectGrpcException("x", grpc_status_code=StatusCode.INTERNAL), False),
    ],
)
def test_a_lost_server_is_not_a_failed_step(problem, lost):
    """No answer, and a session that a new server does not know; not what a step does wrong."""
    assert is_lost(problem) is lost


@pytest.mark.parametrize("there", [True, False])
def test_java_uses_the_archive_of_its_classes_where_there_is_one(tmp_path, monkeypatch, there):
    """Naming a file that is not there would be a warning in every log."""
    archive = tmp_path / "spark.jsa"
    if there:
        archive.touch()
    monkeypatch.setattr(session, "CLASSES", archive)
    java = session.local_options(tmp_path)["spark.driver.extraJavaOptions"].split()
    assert (f"-XX:SharedArchiveFile={archive}" in java) is there
