"""Fixtures of the Spark tests: one session for the whole test run, made as the steps make theirs."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from evenkeel.spark_tasks.session import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session; it starts in seconds, so there is only one."""
    # its farewells at the interpreter's end find the captured output closed
    logging.getLogger("py4j").setLevel(logging.WARNING)
    with session("evenkeel tests") as started:
        yield started
