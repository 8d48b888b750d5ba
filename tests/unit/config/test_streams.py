"""What configuration says of Kafka Streams applications."""

from __future__ import annotations

import pytest

from evenkeel.engine.config import StreamsSettings, load
from evenkeel.engine.model.errors import ConfigError
from evenkeel.engine.streams.settings import RackStrategy


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write an evenkeel.toml and work in its folder."""
    monkeypatch.delenv("EVENKEEL_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    return (tmp_path / "evenkeel.toml").write_text


def test_settings_of_streams_applications_are_told_by_rule(write):
    """Kafka's names with `_` for `.`; what is left out is not known, or as Kafka has it."""
    write(
        """
[[rules]]
groups = "pay-*"
[rules.streams]
rack_aware_assignment_strategy = "MIN_COST"
rack_aware_assignment_tags = ["zone"]
num_standby_replicas = 0
changelogs = {"1" = ["pay-a-changelog"], "2" = []}
"""
    )
    told = load().rule("any", "pay-app").streams

    assert told == StreamsSettings(
        rack_aware_assignment_strategy="MIN_COST",
        rack_aware_assignment_tags=("zone",),
        num_standby_replicas=0,
        changelogs={"1": ("pay-a-changelog",), "2": ()},
    )
    assert (told.acceptable_recovery_lag, told.max_warmup_replicas) == (10_000, 2)
    assert (told.task_assignor, told.overlap, told.rack_as_tag) == (
        "high-availability",
        "computed",
        False,
    )
    assert load().rule("any", "other").streams is None


def test_what_is_not_said_of_a_streams_application_is_unknown():
    """No copies and no tags are something else than unknown ones."""
    nothing = StreamsSettings()

    assert nothing.rack_aware_assignment_strategy is None
    assert nothing.rack_aware_assignment_tags is None
    assert nothing.num_standby_replicas is None
    assert nothing.changelogs is None
    assert (
        nothing.rack_aware_assignment_traffic_cost,
        nothing.rack_aware_assignment_non_overlap_cost,
    ) == (None, None)


@pytest.mark.parametrize(
    "name", ["none", "Min_Traffic", "BALANCE_SUBTOPOLOGY", "min_cost", "balanced_min_cost"]
)
def test_every_admitted_rack_strategy_is_one(name):
    """Kafka's names and those of KIP-925's draft, in any case."""
    told = StreamsSettings(rack_aware_assignment_strategy=name)

    assert RackStrategy(told.rack_aware_assignment_strategy) in RackStrategy


@pytest.mark.parametrize(
    ("streams", "named"),
    [
        (
            '{rack_aware_assignment_strategy = "nearest"}',
            "rack_aware_assignment_strategy: there is no strategy 'nearest'. Known: none,",
        ),
        ('{task_assignor = "lazy"}', "task_assignor: "),
        ('{overlap = "both"}', "overlap: "),
        ("{num_standby_replicas = -1}", "num_standby_replicas: "),
        ("{max_warmup_replicas = 0}", "max_warmup_replicas: "),
        ("{acceptable_recovery_lag = -1}", "acceptable_recovery_lag: "),
        ("{rack_aware_assignment_traffic_cost = -1}", "rack_aware_assignment_traffic_cost: "),
        (
            "{rack_aware_assignment_non_overlap_cost = -1}",
            "rack_aware_assignment_non_overlap_cost: ",
        ),
        ('{changelogs = {"1" = "one"}}', "changelogs.1: "),
        ("{num_standby = 1}", "num_standby: no such key"),
    ],
)
def test_wrong_settings_of_a_streams_application_are_named(write, streams, named):
    """The key below the rule, and why."""
    write(f"[[rules]]\nstreams = {streams}\n")

    with pytest.raises(ConfigError) as problem:
        load()
    assert f"rules.0.streams.{named}" in str(problem.value)


def test_a_later_rule_replaces_what_an_earlier_one_said_of_streams(write):
    """As a whole: its settings belong together."""
    write(
        """
[[rules]]
streams = {num_standby_replicas = 2, max_warmup_replicas = 5}
[[rules]]
groups = "app"
streams = {num_standby_replicas = 1}
"""
    )

    assert load().rule("any", "app").streams == StreamsSettings(num_standby_replicas=1)
    assert load().rule("any", "other").streams.max_warmup_replicas == 5


def test_settings_of_streams_applications_are_part_of_the_version(write):
    """Other settings, other candidates."""
    write("[[rules]]\nstreams = {num_standby_replicas = 1}\n")
    before = load().version
    write("[[rules]]\nstreams = {num_standby_replicas = 2}\n")

    assert load().version != before
