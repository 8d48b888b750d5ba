"""Kafka's sticky assignors of tasks in a JVM, the public one and the broker's: they answer as ours do."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.oracle.jvm import NO_COMPILER
from tests.oracle.sticky_task_cases import client_case
from tests.oracle.sticky_tasks import CASES, StickyTaskJvm, compare
from tests.stage.process import find_java, has_compiler

pytestmark = [pytest.mark.nightly, pytest.mark.slow]


@pytest.fixture(scope="module")
def jvm() -> Iterator[StickyTaskJvm]:
    """Both of Kafka's classes."""
    if not has_compiler(find_java()[0]):
        pytest.skip(NO_COMPILER)
    with StickyTaskJvm() as running:
        yield running


@pytest.mark.parametrize("strategy", CASES)
def test_random_applications_get_the_same(jvm: StickyTaskJvm, strategy: str) -> None:
    """500 of each class, output identical."""
    assert compare(jvm, strategy, 500, seed=2026) == []


def test_what_kafka_deals_by_no_order_is_told(jvm: StickyTaskJvm) -> None:
    """The public class deals standbys in another order each time it is asked about equal applications."""
    random = Random("orders")
    cases = [client_case(random) for _ in range(40)]
    orders = [[jvm.ask(case)["standby_order"] for case in cases] for _ in range(2)]

    assert [sorted(order) for order in orders[0]] == [sorted(order) for order in orders[1]]
    assert orders[0] != orders[1]
