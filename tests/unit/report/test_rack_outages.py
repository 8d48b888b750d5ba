"""The end of each rack in a report: what `whatif --without-rack` says, for every group; and how the page shows it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from evenkeel.engine.config import Rule, Settings, StreamsSettings
from evenkeel.engine.model.arrays import Column
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.pipeline.whatif import Leaves, WithoutRack, answer, answer_of_tasks
from evenkeel.engine.report import rack_outages as room
from evenkeel.engine.report import render
from evenkeel.engine.report.rack_outages import RACKS_UNKNOWN, rehearse
from evenkeel.engine.report.values import GroupWithoutRack, LeftOut, RackRehearsal, Rehearsal
from tests.helpers.measuring import seen
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic
from tests.helpers.streams import process
from tests.helpers.streams_groups import Sub, Thread, live_group, on
from tests.unit.report.test_page import EVIL, Elements, filled, fleet

RACKS = {0: "rack-a", 1: "rack-b", 2: "rack-c", 3: "rack-a"}
SPREAD = ("rack-a", "rack-b", "rack-c")
STORE = "app-counts-changelog"


def consumers(name, racks, replicas, header=None):
    """A group with a member in each of these racks, on partitions in turn, measured with its past."""

    def taken(number):
        count = len(racks) or 1
        members = [
            member(f"{name}-{n}", ["t"], {"t": range(n, len(replicas), count)}, rack=rack)
            for n, rack in enumerate(racks)
        ]
        made = topic("t", len(replicas), end=1000 + 3000 * number, replicas=replicas)
        one = group(name, members=members, lag={"t": 0}, **(header or {}))
        return groups(make_snapshot(topics=[made], groups=[one], brokers=RACKS, number=number))[0]

    past = [taken(number) for number in range(3)]
    return seen(past[-1], past[:-1], SETTINGS)


SETTINGS = Settings(
    rules=(
        Rule(capacity_per_second=100.0),
        Rule(groups="small", capacity_per_second=25.0),
        Rule(groups="app", streams=StreamsSettings(rack_aware_assignment_strategy="none")),
    )
)
SAFE = [[0, 1], [1, 2], [2, 0], [1, 0], [2, 1], [0, 2]]


@pytest.fixture(scope="module")
def many():
    """Groups of which each fares otherwise without rack-a, by name; in each partition 10 offsets/s arrive."""
    return {
        "exposed": consumers("exposed", SPREAD, [[0, 3], *SAFE[1:]]),
        "small": consumers("small", SPREAD, SAFE),
        "large": consumers("large", SPREAD, SAFE),
        "far": consumers("far", ["rack-b", "rack-c"], [[1, 2], [2, 1]]),
        "alone": consumers("alone", ["rack-a", "rack-a"], SAFE),
        "racks-unknown": consumers("racks-unknown", [None, None], SAFE),
        "moving": consumers("moving", SPREAD, SAFE, {"state": "PreparingRebalance"}),
    }


def test_a_group_has_the_figures_of_the_whatif(many):
    """Those of the strategy that it runs; what is lost comes before what is overloaded."""
    first, *_ = rehearse(SETTINGS, list(many.values())).racks

    assert [one.group_id for one in first.groups] == ["exposed", "small"]
    for one in first.groups:
        changes = (WithoutRack(rack="rack-a"), Leaves(member=f"{one.group_id}-0"))
        told = answer(SETTINGS, many[one.group_id], changes)
        runs, loads = told.outcomes[0], told.loads[1].values()
        assert runs.candidate.is_running
        assert (one.members, one.left) == (told.today.members, runs.members) == (3, 2)
        assert one.moves == runs.candidate.score.moves > 0
        assert one.busiest == max(load.utilization for load in loads)
        assert one.arrives == max(load.per_second for load in loads)
        assert one.lag == runs.candidate.forecast.forecast_lag_expected
        assert (one.now, one.then) == (Diagnosis.HEALTHY, runs.diagnosed.diagnosis)
        assert one.offline == sum(len(fact.subjects) for fact in told.lost)
        assert (one.stores_lost, one.restore_offsets, one.restore_bytes) == (None, None, None)
    exposed, small = first.groups
    assert (exposed.offline, exposed.then) == (1, Diagnosis.HEALTHY)
    assert (small.offline, small.then) == (0, Diagnosis.UNDER_PROVISIONED)
    assert small.busiest == pytest.approx(30 / 25)


def test_all_other_groups_are_counted(many):
    """Those that keep up, those with nothing in the rack, those without a member left, and the others by reason."""
    told = list[tuple[int, int]]()
    found = rehearse(SETTINGS, list(many.values()), lambda *passed: told.append(passed))
    first, second, _ = found.racks

    assert told == [(n, 5) for n in range(1, 6)]
    assert [one.rack for one in found.racks] == list(SPREAD)
    assert (found.groups, found.more_racks) == (7, 0)
    assert found.left_out == (
        LeftOut(reason=RACKS_UNKNOWN, groups=("racks-unknown",)),
        LeftOut(reason="rebalancing (PreparingRebalance)", groups=("moving",)),
    )
    assert (first.members, first.keep_up, first.unchanged, first.ended) == (5, 1, 1, ("alone",))
    assert (second.ended, [one.group_id for one in second.groups]) == ((), ["small"])


def test_what_nothing_is_known_of_is_unknown():
    """No load, no rate, no lag and no diagnosis of a group that was seen once: listed as unknown, not as well."""
    once = seen(consumers("g", SPREAD, SAFE).group)
    [row] = rehearse(Settings(), [once]).racks[0].groups

    assert (row.busiest, row.arrives, row.lag, row.then) == (None, None, None, None)
    assert (row.moves, row.in_trouble, row.is_changed) == (3, False, True)


def test_an_application_has_its_instances_tasks_and_stores():
    """Instances leave with their threads; stores without a copy left, what is restored and its bytes are counted."""
    threads = [
        Thread(1, "0_0 1_0 1_2", "1_1", rack="a"),
        Thread(2, "0_1 1_1", rack="a"),
        Thread(3, "0_2 0_3", "1_0", rack="c"),
    ]
    placed = on("source-0", "a b c a") | on("source-1", "a b c") | on(STORE, "ac bc a")
    made = live_group(threads, {"0": Sub(4), "1": Sub(3, [STORE])}, replicas=placed)
    sizes = Column(np.array([10, 200, 3000]), np.array([True, True, True]))
    made = replace(made, stores=replace(made.stores, log_bytes=sizes))
    changes = (WithoutRack(rack="a"), Leaves(member=process(1)), Leaves(member=process(2)))
    names = {process(n): str(n) for n in (1, 2, 3)}
    rule = SETTINGS.rule("test", "app").streams
    told = answer_of_tasks(made, rule, changes, {}, names, {}).outcomes[0]
    [row] = rehearse(SETTINGS, [seen(made, settings=SETTINGS)]).racks[0].groups
    offsets, size = told.to_restore(told.restoring[process(3)])

    assert told.is_running
    assert (row.in_tasks, row.members, row.left, row.moves) == (True, 3, 1, len(told.moves))
    # three partitions that it reads, and one changelog
    assert (row.offline, row.stores_lost) == (4, 2)
    assert (row.restore_offsets, row.restore_bytes) == (offsets, size) == (2000, 3200)
    assert (row.busiest, row.arrives, row.lag, row.then) == (None, None, None, None)
    sizes = Column(sizes.values, ~sizes.known)
    unknown = replace(made, stores=replace(made.stores, log_bytes=sizes))
    [row] = rehearse(SETTINGS, [seen(unknown, settings=SETTINGS)]).racks[0].groups
    assert (row.restore_offsets, row.restore_bytes) == (2000, None)


def test_a_group_that_fails_costs_the_others_nothing(many, monkeypatch):
    """Its reason is told, as is that of a group whose strategy nobody knows."""

    def fails(settings, supposed):
        if supposed.group.group == "small":
            raise ZeroDivisionError("division by zero")
        return None

    monkeypatch.setattr(room, "outcome_running", fails)
    first, *_ = rehearse(SETTINGS, [many["small"], many["large"]]).racks
    assert [(one.reason, one.groups) for one in first.left_out] == [
        ("error: ZeroDivisionError: division by zero", ("small",)),
        ("its current strategy is unknown", ("large",)),
    ]


def test_members_may_name_more_racks_than_a_page_has(monkeypatch):
    """Racks of brokers come first, then those of most members; the others are counted."""
    monkeypatch.setattr(room, "MOST_RACKS", 4)
    found = rehearse(SETTINGS, [consumers("g", ["x", "y", "y", "z", "rack-b"], SAFE)])
    assert ([one.rack for one in found.racks], found.more_racks) == ([*SPREAD, "y"], 2)


def page_of(*rows, **changed):
    """The text of the section of one rack with these groups."""
    one = RackRehearsal(
        rack="rack-a", members=5, groups=rows, keep_up=1_234, unchanged=7, ended=(), left_out=()
    )
    whole = Rehearsal(racks=(replace(one, **changed),), more_racks=2, groups=9, left_out=())
    page = render(replace(fleet(), rehearsal=whole))
    text = Elements(page.replace("<t", " <t")).text
    return " ".join(text[text.index("If a rack is lost") : text.index("No advice yet")].split())


ROW = filled(
    GroupWithoutRack, "g", in_tasks=False, now=Diagnosis.HEALTHY, then=Diagnosis.SKEWED_LOAD,
    stores_lost=None, restore_offsets=None, restore_bytes=None, reason="too much",
)  # fmt: skip
UNSURE = replace(
    ROW, group_id="u", in_tasks=True, busiest=None, arrives=None, lag=None, then=None, reason=None,
    offline=0, stores_lost=0, restore_offsets=0, restore_bytes=None, now=Diagnosis.UNKNOWN,
)  # fmt: skip


def test_unknown_is_a_question_mark_and_what_is_not_shown_is_counted():
    """A row each, the count of those in trouble, of those left out of a table, and of names left out of a list."""
    text = page_of(ROW, *(UNSURE,) * 24, ended=tuple(f"e{n}" for n in range(22)))

    assert "g healthy → skewed load 1,234 → 1,234 1,234 partitions 50% 0.5 records/s" in text
    assert "u ? → ? 1,234 → 1,234 1,234 tasks ? ? ? 0 0 0 offsets, ?" in text
    assert "1 group would be unhealthy, 24 are unknown, 1,234 would be healthy, 7 would not" in text
    assert "22 groups would have no members: e0, e1," in text
    assert "e19 and 2 more" in text
    assert "and 5 more" in text
    assert "2 racks without a broker are omitted" in text


def test_reasons_are_counted_once_there_are_many():
    """The first few in words with the first few names, then how many groups and reasons are left."""
    reasons = [LeftOut(reason=f"why {n}", groups=tuple("abcdefg"[: 7 - n])) for n in range(7)]
    reasons.append(LeftOut(reason="why 7", groups=("z",)))
    text = page_of(left_out=tuple(reasons))
    assert "7 groups cannot be simulated: why 0 (a, b, c, d, e and 2 more)." in text
    assert "2 groups cannot be simulated for 2 other reasons." in text


def test_names_add_no_element():
    """Racks, groups and reasons are text, whatever they are called."""

    def page(name):
        row = replace(ROW, group_id=name, reason=name)
        out = (LeftOut(reason=name, groups=(name,)),)
        one = filled(RackRehearsal, name, groups=(row,), ended=(name,), left_out=out)
        whole = Rehearsal(racks=(one,), more_racks=0, groups=1, left_out=out)
        return Elements(render(replace(fleet(), rehearsal=whole)))

    evil, harmless = page(EVIL), page("plain")
    assert [tag for tag, _ in evil.elements] == [tag for tag, _ in harmless.elements]
    assert [sorted(a) for _, a in evil.elements] == [sorted(a) for _, a in harmless.elements]
    assert evil.text.count("alert(1)") == 8


def test_nobody_asked_and_no_rack_is_known():
    """Without the option nothing is said of racks; without racks that is said."""
    nothing = Rehearsal(racks=(), more_racks=0, groups=0, left_out=())
    assert "If a rack is lost" not in render(fleet())
    assert re.search(r"<p>No racks are known", render(replace(fleet(), rehearsal=nothing)))
