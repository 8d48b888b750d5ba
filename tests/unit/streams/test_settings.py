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


def test_each_assignor_has_its_own_costs():
    """High availability prefers data nearby (10 and 1), the sticky assignor what is there (1 and 10)."""
    assert costs_of("high-availability") == Costs(traffic=10, non_overlap=1)
    assert costs_of("sticky") == Costs(traffic=1, non_overlap=10)


def test_tasks_without_state_cost_one_and_nothing():
    """They have nothing to move."""
    assert Costs(traffic=1, non_overlap=0) == STATELESS


def test_each_cost_is_overridden_for_itself():
    """A cost that is not configured stays the assignor's; zero is a cost."""
    assert costs_of("high-availability", traffic=0) == Costs(traffic=0, non_overlap=1)
    assert costs_of("sticky", non_overlap=3) == Costs(traffic=1, non_overlap=3)


def test_an_unknown_assignor_has_no_costs():
    """The error names what there is."""
    with pytest.raises(
        ConfigError, match=r"no task assignor 'fallback'.*high-availability, sticky"
    ):
        costs_of("fallback")


@pytest.mark.parametrize("name", ["traffic", "non_overlap"])
def test_a_negative_cost_is_an_error(name):
    """It would pay for moving tasks about."""
    with pytest.raises(ConfigError, match=f"{name} is -1"):
        Costs(**{"traffic": 1, "non_overlap": 1, name: -1})


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_standby_replicas", -1), ("acceptable_recovery_lag", -1), ("max_warmup_replicas", 0)],
)
def test_a_number_below_kafkas_least_is_an_error(name, value):
    """Without a single warm-up nothing would ever get to its target."""
    with pytest.raises(ConfigError, match=f"{name} is {value}"):
        TaskConfig(**{name: value})


def test_the_defaults_are_kafkas():
    """An application that configures nothing has no standbys, no tags, and no rack strategy."""
    config = TaskConfig()

    assert (config.num_standby_replicas, config.max_warmup_replicas) == (0, 2)
    assert (config.acceptable_recovery_lag, config.tags, config.rack_as_tag) == (10_000, (), False)
    assert (config.strategy, config.overlap) == (RackStrategy.NONE, Overlap.COMPUTED)
    assert config.costs == costs_of("high-availability")
