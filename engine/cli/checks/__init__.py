"""What `evenkeel doctor` tries, one function per thing; none of them raises."""

from __future__ import annotations

from collections.abc import Iterator

from .check import FAIL, OK, WARN, Check
from .machine import java, python, spark, spark_cluster
from .people import pagers, slack
from .services import clusters, configuration, history, lake, variables

__all__ = ["FAIL", "OK", "WARN", "Check", "every"]


def every(bootstrap: str | None, cluster: str | None) -> Iterator[Check]:
    """
    All checks, each as soon as it is done.

    Args:
        bootstrap: A cluster to try instead of the configured ones.
        cluster: Only this one of the configured clusters.

    Raises:
        InputError: The options are wrong.
    """
    yield python()
    yield java()
    yield spark()
    settings, checked = configuration()
    yield checked
    yield from variables()
    if settings is None:
        return
    yield from clusters(settings, bootstrap, cluster)
    yield lake(settings)
    yield from spark_cluster()
    yield history()
    yield slack(settings)
    yield from pagers(settings)
