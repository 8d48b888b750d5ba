"""Fixtures of the Spark tests."""

from tests.helpers.spark import spark

__all__ = ["spark"]
