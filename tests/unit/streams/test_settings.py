"""The settings of a Streams application: Kafka's names and defaults, and the names of KIP-925's draft."""

from __future__ import annotations

import pytest

from evenkeel.engine.model.errors import ConfigError
from evenkeel.engine.streams.settings import (
    STATELESS,
    Costs,
    Overlap,
    RackStrategy,
    TaskConfig,
    costs_of,
)


@pytest.mark.parametrize("name", ["balanced", "", None, 3])
def test_an_unknown_strategy_is_an_error(name):
    """What is no name of a strategy is not taken for one."""
    with pytest.raises(ValueError, match="is not a valid RackStrategy"):
        RackStrategy(name)


@pytest.mark.parametrize(
    ("found", "traffic", "non_overlap"),
    [
        (costs_of("high-availability"), 10, 1),
        (costs_of("sticky"), 1, 10),
        (STATELESS, 1, 0),
        (costs_of("high-availability", traffic=0), 0, 1),
        (costs_of("sticky", non_overlap=3), 1, 3),
    ],
)
def test_costs_are_the_assignors_but_for_those_configured(found, traffic, non_overlap):
    """Each is overridden for itself, also by zero; tasks without state have nothing to move."""
    assert found == Costs(traffic=traffic, non_overlap=non_overlap)


def test_an_unknown_assignor_has_no_costs():
    """The error names what there is."""
    with pytest.raises(
        ConfigError, match=r"no task assignor 'fallback'.*high-availability, sticky"
    ):
        costs_of("fallback")


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (Costs, "traffic", -1),
        (Costs, "non_overlap", -1),
        (TaskConfig, "num_standby_replicas", -1),
        (TaskConfig, "acceptable_recovery_lag", -1),
        (TaskConfig, "max_warmup_replicas", 0),
    ],
)
def test_a_number_below_the_least_is_an_error(kind, name, value):
    """A negative cost would pay for moves; without a warm-up nothing would ever get to its target."""
    least = {"traffic": 1, "non_overlap": 1} if kind is Costs else {}
    with pytest.raises(ConfigError, match=f"{name} is {value}"):
        kind(**{**least, name: value})


def test_the_defaults_are_kafkas():
    """An application that configures nothing has no standbys, no tags, and no rack strategy."""
    config = TaskConfig()

    assert (config.num_standby_replicas, config.max_warmup_replicas) == (0, 2)
    assert (config.acceptable_recovery_lag, config.tags, config.rack_as_tag) == (10_000, (), False)
    assert (config.strategy, config.overlap) == (RackStrategy.NONE, Overlap.COMPUTED)
    assert config.costs == costs_of("high-availability")
