"""What a snapshot in the lake says of the groups of its cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import ClusterSettings, Filter, IncidentRules, Settings
from evenkeel.engine.incidents.evaluation import Judged, Judgment
from evenkeel.engine.incidents.troubles import judged_of
from evenkeel.engine.messages.wording.facts import words
from evenkeel.engine.messages.wording.incidents import impact
from evenkeel.engine.metrics.diagnosis.rules import RULES
from evenkeel.engine.model.facts import Fact, finding
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline import evaluate_groups, second_process
from evenkeel.engine.pipeline.evaluate_groups import judge_chunk, judge_groups
from evenkeel.engine.pipeline.measure import observed_of
from evenkeel.engine.records import to_json
from evenkeel.engine.snapshots.chunks import chunks_of
from evenkeel.engine.snapshots.groups_with_past import lookback_of, read_with_past
from tests.helpers.fleet import Shape, make_fleet, write_fleet
from tests.helpers.fluid import CLUSTER
from tests.helpers.fluid.lake import situations_lake

MOMENTS = (0, 1, 2, 5, 21, 40, 48, 59, 60, 61, 85, 119)
"""Numbers of snapshots at which something has just begun, goes on, or is over."""


FEW = (
    *("vanished", "healthy-idle", "stuck-partition", "slow-member", "silent-member", "no-members"),
    *("losing-records", "skipped-records", "rebalancing", "unreadable", "skewed-load"),
    "too-few-members",
)


def few_situations() -> tuple[Recording, tuple[str, ...]]:
    """Some situations, for as long as any of them is looked at."""
    return situations_lake(FEW, 81)


@cache
def judgment(number: int) -> Judgment:
    """What a snapshot of some situations says."""
    lake, ids = few_situations()
    return judge_groups(lake, Settings(), ids[number])


def full(lake: Recording, snapshot_id: str) -> list[Judged]:
    """What the observation of all groups with their whole past says of each."""
    settings = Settings()
    lookback = lookback_of(lake, settings, snapshot_id)
    names = lake.read("groups", [snapshot_id])["group_id"].to_pylist()
    groups = read_with_past(lake, settings, lookback, names)
    rules = [IncidentRules()] * len(groups.batch)
    return judged_of(observed_of(settings, groups), rules, groups.earlier)


def well(judged: Judged) -> bool:
    """Whether a group is plainly well."""
    return judged.known and not judged.troubles and not judged.recovering


@pytest.mark.slow
@pytest.mark.parametrize("number", MOMENTS)
def test_what_is_not_judged_is_well(number: int) -> None:
    """All that the full observation finds is found, and of all other groups it finds nothing."""
    lake, ids = situations_lake()
    expected = {each.group_id: each for each in full(lake, ids[number]) if not well(each)}

    odd = judge_groups(lake, Settings(), ids[number]).odd
    odd = {name: each for name, each in odd.items() if name != "vanished"}

    expected.pop("vanished", None)
    assert odd == expected


@pytest.mark.parametrize("number", [5, 40, 60])
def test_a_rule_that_is_not_asked_would_have_found_nothing(number: int) -> None:
    """Where no partition or member is what it needs."""
    lake, ids = few_situations()
    lookback = lookback_of(lake, Settings(), ids[number])
    names = lake.read("groups", [ids[number]])["group_id"].to_pylist()
    groups = read_with_past(lake, Settings(), lookback, names)
    evidence = observed_of(Settings(), groups).evidence
    for diagnosis, rule, needs in RULES:
        for group in range(len(groups.batch)) if needs else ():
            if not evidence.some[needs][group]:
                assert not [*rule(evidence.of_group(group))], (diagnosis, names[group])
    assert any(any(met) and not all(met) for met in evidence.some.values())


def test_a_judgment_says_of_which_snapshot_it_is() -> None:
    """Cluster, snapshot, when its reading ended, the one before, and all groups that it has."""
    _, ids = few_situations()
    of = judgment(5)

    assert (of.cluster, of.snapshot_id, of.earlier) == (CLUSTER, ids[5], ids[4])
    assert f"{of.at:%H:%M:%S}" == "00:25:02"
    assert set(of.listed) == set(FEW)


def test_a_group_that_is_gone_while_records_arrive_is_missed() -> None:
    """It is said with what it had, in the first snapshot without it."""
    (gone,) = judgment(60).odd["vanished"].troubles

    assert gone.kind is Diagnosis.GROUP_DELETED
    assert gone.since is None
    assert words(gone.facts[0]).startswith(
        "the group no longer exists; it had 0 members and 16 partitions"
    )


def test_a_group_that_stays_away_is_missed_as_long_as_somebody_watches() -> None:
    """Later snapshots say since when, and with the rate of now."""
    lake, ids = few_situations()

    assert judgment(60).odd["vanished"].gone is not None
    watched = judge_groups(lake, Settings(), ids[62], ["vanished"])
    assert watched.odd["vanished"].gone is None
    (gone,) = watched.odd["vanished"].troubles

    assert f"{gone.since:%H:%M}" == "05:00"
    assert gone.facts[0].after == pytest.approx(1600, rel=0.1)


def test_a_group_that_vanished_unseen_is_missed_with_the_next_snapshot() -> None:
    """It may have been gone first in a snapshot that nobody looked at, or that could not list all groups."""
    (gone,) = judgment(61).odd["vanished"].troubles

    assert gone.kind is Diagnosis.GROUP_DELETED
    assert f"{gone.since:%H:%M}" == "05:00"


def test_of_a_group_gone_for_longer_than_the_lookback_nothing_is_known() -> None:
    """Whether records still arrive for it cannot be said, and it is not taken to be well."""
    lake, ids = few_situations()

    gone = judge_groups(lake, Settings(), ids[80], ["vanished"]).odd["vanished"]

    assert (gone.known, gone.troubles) == (False, ())


def test_a_group_that_the_configuration_leaves_out_is_not_missed() -> None:
    """Whoever stops reading a group does not hear that it vanished."""
    lake, ids = few_situations()
    cluster = ClusterSettings(bootstrap="b:9092", groups=Filter(deny=("van*",)))

    judged = judge_groups(lake, Settings(clusters={CLUSTER: cluster}), ids[60])

    assert not judged.odd["vanished"].troubles
    assert judged.odd["vanished"].known


def judged_after(
    change: Callable[[dict[str, Table], dict[str, Any]], None],
) -> dict[str, Judged]:
    """What is odd at a snapshot whose tables and facts are others, after two as they are."""
    lake, ids = few_situations()
    copy = Recording()
    for one in ids[58:61]:
        manifest = lake.manifest("snapshot", one)
        tables = {name: lake.read(name, [one]) for name in manifest.rows}
        facts = dict(manifest.facts)
        if one == ids[60]:
            change(tables, facts)
        copy.write("snapshot", one, tables, facts)
    return judge_groups(copy, Settings(), ids[60]).odd


def test_a_group_that_is_gone_and_has_nothing_to_read_is_well() -> None:
    """Whoever deletes what is idle hears nothing, and what was wrong with it before is over."""

    def leave_out(tables: dict[str, Table], _: object) -> None:
        for name, table in tables.items():
            if "group_id" in table.columns:
                tables[name] = table.filter(~table["group_id"].equal("healthy-idle"))

    gone = judged_after(leave_out)["healthy-idle"]

    assert (gone.known, gone.troubles) == (True, ())
    assert gone.gone is not None
    assert (gone.gone.measure, gone.gone.after) == ("group_deleted", 0)


@pytest.mark.parametrize(
    "why",
    [
        finding("coordinator_unread", quote="timed out"),
        finding("groups_kept_moving"),
        finding("groups_without_leader", ["__consumer_offsets"], partitions=1),
    ],
    ids=lambda why: why.measure,
)
def test_a_group_missing_from_an_incomplete_list_may_be_there(why: Fact) -> None:
    """Where a coordinator did not answer, or there is none, nobody says that its groups are gone."""
    gone = judged_after(lambda _, facts: facts.update(unread=[to_json(why)]))["vanished"]

    assert (gone.known, gone.troubles) == (False, ())


def test_what_cannot_be_judged_costs_the_others_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A group on which the work fails is unknown, logged, and told with the error; all others are judged as before."""
    lake, ids = few_situations()
    before, real = judgment(40), evaluate_groups.observed_of

    def fails(settings, groups):
        if "stuck-partition" in groups.batch.place:
            raise ZeroDivisionError("no rows")
        return real(settings, groups)

    monkeypatch.setattr(evaluate_groups, "observed_of", fails)
    with caplog.at_level(logging.ERROR):
        judged = judge_groups(lake, Settings(), ids[40])

    failed = judged.odd["stuck-partition"]
    assert not failed.known
    assert [each.kind for each in failed.troubles] == [Diagnosis.UNKNOWN]
    assert impact(failed.troubles[0].facts) == (
        'evenkeel failed to evaluate it: "ZeroDivisionError: no rows"'
    )
    assert "stuck-partition cannot be evaluated" in caplog.text
    assert {name: each for name, each in judged.odd.items() if name != "stuck-partition"} == {
        name: each for name, each in before.odd.items() if name != "stuck-partition"
    }


@pytest.mark.slow
def test_batches_judge_as_each_group_alone() -> None:
    """How the groups of a fleet are cut changes nothing of what is said of them."""
    lake = Recording()
    *_, newest = write_fleet(lake, make_fleet(Shape(groups=40)))
    settings = Settings()
    lookback = lookback_of(lake, settings, newest)
    names = [name for chunk in chunks_of(lake, newest) for name in chunk.groups]

    together = judge_chunk(lake, settings, lookback, names)
    alone = [judge_chunk(lake, settings, lookback, [name])[0] for name in names]

    assert together == alone
    assert any(each.troubles for each in together)


@pytest.mark.slow
def test_a_fleet_is_judged_as_observed_in_full() -> None:
    """Nothing that is wrong with a group of a fleet is missed, and nothing is said of one that is well."""
    lake = Recording()
    *_, newest = write_fleet(lake, make_fleet(Shape(groups=120)))
    expected = {each.group_id: each for each in full(lake, newest) if not well(each)}

    assert judge_groups(lake, Settings(), newest).odd == expected


@pytest.mark.slow
@pytest.mark.parametrize("starts", [True, False])
def test_a_second_process_judges_as_this_one(tmp_path, monkeypatch, caplog, starts: bool) -> None:
    """Half of a large snapshot's groups are judged elsewhere, or here where nothing else can be started."""
    lake = FileLake(tmp_path / "lake")
    *_, newest = write_fleet(lake, make_fleet(Shape(groups=60, giant=False)))
    expected, here = judge_groups(lake, Settings(), newest), list[str]()
    real = evaluate_groups.observed_of

    def observed(settings, groups):
        here.extend(groups.batch.place)
        return real(settings, groups)

    monkeypatch.setattr(evaluate_groups, "observed_of", observed)
    monkeypatch.setattr(evaluate_groups, "LARGE", 0)
    monkeypatch.setattr(evaluate_groups, "CHUNK", 300)
    monkeypatch.setattr(second_process, "processors", lambda: 2)
    if not starts:
        monkeypatch.setattr(second_process, "_CODE", "raise SystemExit(1)")

    assert judge_groups(lake, Settings(), newest).odd == expected.odd
    assert ("the second process failed" in caplog.text) is not starts
    assert ({*expected.odd} <= {*here}) is not starts
