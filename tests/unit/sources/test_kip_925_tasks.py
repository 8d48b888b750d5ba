"""
KIP-925, rack-aware task assignment in Kafka Streams: sections 4.B.III to 8.A.

Sections 2 to 4.B.II, and the cost with overlap itself, are in `test_kip_925_rack_aware_tasks`.

Known errors of the document, numbered over both files, that stand here: 1 (names, default, a switch that never was),
2 (equal costs), 3 (a missing rack), 4 (a cost function without `return`), 5 (overlap of the sticky assignor), 6 (single
swaps of standbys) and 7 (racks as tags).
"""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.model.facts import Fact, FactKind
from evenkeel.engine.streams.model import ClientLine, application
from evenkeel.engine.streams.place import place
from evenkeel.engine.streams.racks import EQUAL_COSTS, cross_rack
from evenkeel.engine.streams.settings import (
    STATEFUL,
    Costs,
    Overlap,
    RackStrategy,
    TaskConfig,
    costs_of,
)
from evenkeel.engine.streams.simulate import converge
from evenkeel.engine.streams.standby_racks import ROUNDS, swap_standbys
from evenkeel.engine.streams.standbys import Copies, kept_apart
from tests.helpers.facts import said, told
from tests.helpers.standby_judge import verify
from tests.helpers.streams import Shape, process, sketches, tasks_of

NONE, MIN, BALANCE = RackStrategy
WITH_RACKS = Shape(known_racks=True, strategies=(MIN,))


def _app(racks, sources, logs=None, *, zones="", previous=(), stateful=True):
    """
    A client on each of *racks*, "." for none; for each word of *sources* a task that reads a partition on these racks.

    Changelogs lie beside the sources, or on the racks of *logs*; *zones* are client tags.
    """
    near, kept = sources.split(), (logs or sources).split()
    replicas = {("source-0", p): [r.strip(".") for r in word] for p, word in enumerate(near)}
    replicas |= {("changelog-0", p): [r.strip(".") for r in word] for p, word in enumerate(kept)}
    clients = [
        ClientLine(
            process_id=process(n),
            rack=rack.strip("."),
            tags={"zone": zones[n]} if zones else {},
            previous_active=previous[n].split() if previous else (),
        )
        for n, rack in enumerate(racks)
    ]
    return application(tasks_of(len(near), stateful=stateful), clients, replicas)


def _placed(app, strategy=MIN, **settings):
    return place(app, TaskConfig(strategy=strategy, **settings))


def test_section_4_b_iii_a_partition_that_changes_racks_moves_few_tasks():
    """It and the task it changes places with; whatever was dealt and is no dearer stays."""
    before, now = (_app("ab", "ab " * 9 + last) for last in ("ab", "a"))
    was, target = _placed(before, BALANCE).target, _placed(now, BALANCE).target

    assert np.flatnonzero(was != target).tolist()[-1] == 9
    assert (was != target).sum() == 2


@pytest.mark.parametrize(("weight", "target"), [(0, [1, 0]), (1, [0, 1])])
def test_section_4_b_iii_without_weight_of_overlap_traffic_alone_decides(weight, target):
    """A swap that saves one partition and moves two tasks."""
    app = _app("ab", "b ab")
    placed = _placed(app, costs=Costs(traffic=1, non_overlap=weight))

    assert placed.target.tolist() == target


RAN_ELSEWHERE = ("0_1", "0_0")


def test_section_4_b_iii_no_assignment_is_remembered():
    """The overlap is with what steps 1 and 2 deal, so what ran where before does not matter."""
    before = ((), RAN_ELSEWHERE, RAN_ELSEWHERE[::-1])
    placed = [_placed(_app("ab", "ab b", previous=p), costs=costs_of("sticky")) for p in before]

    assert [one.target.tolist() for one in placed] == [[0, 1]] * 3


def test_section_4_b_summary_the_default_is_none():
    """Error 1: "we can make algorithm I as default"; shipped is none."""
    assert TaskConfig().strategy is NONE


@pytest.mark.parametrize(("overlap", "target"), [("computed", [0, 1]), ("previous", [1, 0])])
def test_section_4_b_summary_the_sticky_assignor_overlaps_with_the_assignment_before(
    overlap, target
):
    """Error 5: so says the KIP; shipped is the assignment just computed, and either can be chosen."""
    app = _app("ab", "ab b", previous=RAN_ELSEWHERE)
    config = TaskConfig(strategy=MIN, costs=costs_of("sticky"), overlap=Overlap(overlap))

    assert place(app, config).target.tolist() == target


@pytest.mark.parametrize(
    ("assignor", "target"), [("sticky", [0, 1]), ("high-availability", [1, 0])]
)
def test_section_4_b_summary_the_costs_weigh_stickiness_against_traffic(assignor, target):
    """Both tasks run far from their data: at 1 to 10 they stay, at 10 to 1 they go."""
    app = _app("ab", "b a", previous=("0_0", "0_1"))

    placed = _placed(app, costs=costs_of(assignor), overlap=Overlap.PREVIOUS)
    assert placed.target.tolist() == target


def test_section_4_c_constraint_1_no_standby_beside_its_active_task():
    """However near the changelog: both tasks and both changelogs are at home, so both copies are away."""
    placed = _placed(_app("ab", "a b"), num_standby_replicas=2)

    assert (placed.target.tolist(), placed.planned.tolist()) == ([0, 1], [1, 0])


@pytest.mark.parametrize(
    ("racks", "standbys", "used"), [("aab", 1, "ab"), ("abbc", 2, "abc"), ("abb", 2, "abb")]
)
def test_section_4_c_constraints_2_and_3_copies_in_different_racks(racks, standbys, used):
    """Away from the active task and from each other, for as long as there are racks."""
    placed = _placed(_app(racks, "a"), num_standby_replicas=standbys, rack_as_tag=True)

    assert sorted(racks[c] for c in (*placed.target, *placed.planned)) == list(used)


def _swapped(racks, logs, standbys, costs=STATEFUL, zones="", tags=(), owner=-1):
    """The standby of each task after the swaps; all tasks are active on *owner*, the last client if left out."""
    app = _app(racks, logs, zones=zones)
    copies = Copies(app, np.full(len(standbys), range(len(racks))[owner]))
    copies.holders = [[client] for client in standbys]
    assert swap_standbys(app, copies, costs, kept_apart(app, TaskConfig(tags=tags)))
    return [client for [client] in copies.holders]


def test_section_4_c_constraint_4_standbys_change_places_where_that_lowers_the_cost():
    """Each comes to its changelog; where it is beside it already, it stays."""
    assert _swapped("abc", "b a", [0, 1]) == [1, 0]
    assert _swapped("abc", "a b", [0, 1]) == [0, 1]


@pytest.mark.parametrize("zones", ["", "xyzxyz"], ids=["no tags", "tags"])
@pytest.mark.parametrize("racks", ["......", "aabbcc"], ids=["no racks", "racks"])
@pytest.mark.parametrize("strategy", [NONE, MIN, BALANCE])
def test_section_4_c_constraint_5_all_hold_and_the_answer_is_always_the_same(
    strategy, racks, zones
):
    """With and without racks and tags, as section 7 wants it; the judge asks twice."""
    app = _app(racks, "b c a bc ab ca a b c", "c a b c a b ab ab c", zones=zones)
    config = TaskConfig(strategy=strategy, num_standby_replicas=2, tags=("zone",) if zones else ())

    assert verify(app, config, place) == []
    assert (place(app, config).racks is None) == (strategy is not NONE and racks[0] != ".")


def test_section_4_c_i_several_standbys_change_places_at_once():
    """Error 6: the KIP swaps one for one; shipped is a least-cost exchange of each two clients, four times around."""
    assert _swapped("abc", "b b a a", [0, 0, 1, 1]) == [1, 1, 0, 0]
    assert ROUNDS == 4


def test_section_4_c_i_swaps_are_greedy_and_may_miss_the_optimum():
    """Handed round among three, all copies would come home and save 6 for 3; two would save 2 for 2."""
    dear = Costs(traffic=2, non_overlap=1)

    assert _swapped("abcd", "b c a", [0, 1, 2], dear) == [0, 1, 2]
    assert _swapped("abcd", "b c a", [0, 1, 2], Costs(traffic=3, non_overlap=1)) == [1, 2, 0]


def test_section_4_d_i_tags_decide_where_there_are_racks_as_well():
    """The copy leaves the zone, though it stays in the rack."""
    app = _app("aba", "a", zones="xxy")

    racks_alone = _placed(app, num_standby_replicas=1, rack_as_tag=True)
    both = _placed(app, num_standby_replicas=1, rack_as_tag=True, tags=("zone",))
    assert (racks_alone.planned.tolist(), both.planned.tolist()) == ([1], [2])


CONFLICTS = {
    "zone": "client.rack is set but 'rack' is not among rack.aware.assignment.tags (zone): "
    "standbys follow the tags alone",
    "rack": f"2 clients ({process(0)}, {process(1)}) have another client.tag.rack than client.rack: "
    "standbys follow the tag",
}


@pytest.mark.parametrize("tag", CONFLICTS)
def test_section_4_d_iii_racks_that_are_not_among_the_tags_are_warned_of(tag):
    """Option II, to fail, was not taken. Error 7: Kafka has no such warning either; here it is a finding."""
    clients = [
        ClientLine(process_id=process(n), rack=rack, tags={tag: value})
        for n, (rack, value) in enumerate(["ab", "ba", "cc"])
    ]
    replicas = {(topic, 0): ["a"] for topic in ("source-0", "changelog-0")}
    placed = place(
        application(tasks_of(1), clients, replicas), TaskConfig(num_standby_replicas=1, tags=(tag,))
    )

    assert said(placed.findings) == (CONFLICTS[tag],)
    assert placed.planned.tolist() == [1]


def test_section_4_d_iv_racks_are_tags_only_where_asked_for():
    """Error 7: Kafka's factory can take racks for a tag, its assignor never lets it; so neither by default."""
    app = _app("aab", "a")
    shipped = _placed(app, num_standby_replicas=1)
    promised = _placed(app, num_standby_replicas=1, rack_as_tag=True)

    assert (shipped.planned.tolist(), shipped.findings) == ([1], ())
    assert promised.planned.tolist() == [2]
    assert "Kafka itself does not do this" in said(promised.findings)[0]


def test_section_4_e_stateless_tasks_follow_their_data_at_one_and_nothing():
    """Dealt by load, then optimized with the same counts; configured costs are those of stateful tasks."""
    app = _app("ab", "b a b", stateful=False)

    assert _placed(app, NONE).active.tolist() == [0, 1, 0]
    placed = _placed(app, costs=Costs(traffic=0, non_overlap=1000))
    assert np.bincount(placed.active).tolist() == [2, 1]
    assert (placed.active[1], sorted(placed.active[[0, 2]])) == (0, [0, 1])


@pytest.mark.parametrize(("strategy", "most"), [(MIN, 4), (BALANCE, 2)])
def test_section_4_e_the_strategy_of_active_tasks_is_that_of_stateless_ones(strategy, most):
    """Sub-topologies are balanced only where they are for active tasks."""
    tasks = tasks_of(4, stateful=False) + tasks_of(4, 1, stateful=False)
    clients = [ClientLine(process_id=process(n), rack=rack) for n, rack in enumerate("ab")]
    replicas = {(f"source-{sub}", p): ["ab"[sub]] for sub in range(2) for p in range(4)}
    placed = place(application(tasks, clients, replicas), TaskConfig(strategy=strategy))

    assert np.bincount(placed.active[:4], minlength=2).max() == most


@pytest.mark.parametrize(
    ("drafted", "shipped"), [("min_cost", MIN), ("balanced_min_cost", BALANCE), ("NONE", NONE)]
)
def test_section_5_the_strategies(drafted, shipped):
    """Error 1: the KIP's names became min_traffic, balance_subtopology and none; both are read."""
    assert RackStrategy(drafted) is RackStrategy(shipped.value) is shipped


def test_section_5_none_disables_racks():
    """Tasks stay where they were dealt, and the answer says why."""
    placed = _placed(_app("ab", "b a"), NONE)

    assert (placed.target.tolist(), told(placed.racks)) == ([0, 1], "the strategy is none")


@pytest.mark.parametrize(
    ("app", "reason"),
    [
        (
            _app("a.", "b a"),
            f"1 client ({process(1)}) has no rack, or one that its members disagree on",
        ),
        (_app("ab", "b a."), "1 source partition (source-0-1) lies on a broker without rack"),
        (
            _app("ab", "b a", "b ."),
            "1 changelog partition (changelog-0-1) lies on a broker without rack",
        ),
    ],
    ids=["client", "broker", "broker of a changelog"],
)
def test_section_6_one_missing_rack_disables_racks(app, reason):
    """Error 3: a warning says the KIP; shipped is an error in the log, and brokers without rack count as well."""
    placed, plain = (_placed(app, s, num_standby_replicas=1) for s in (MIN, NONE))

    assert told(placed.racks) == reason
    assert placed.target.tolist() == plain.target.tolist() == [0, 1]
    assert placed.planned.tolist() == plain.planned.tolist()


def test_section_6_equal_costs_on_every_client_disable_racks():
    """Error 2: Kafka never built this rule; the engine keeps it."""
    assert _placed(_app("ab", "ab c")).racks == Fact(kind=FactKind.REASON, measure=EQUAL_COSTS)
    assert _placed(_app("ab", "ab b")).racks is None


def test_section_6_partitions_with_the_same_racks_move_nothing():
    """The rule by its letter: any task is worth the same on one client, so whoever has which, the sum is the same."""
    placed = _placed(_app("ab", "a a a a"))

    assert placed.target.tolist() == placed.initial.tolist()


def test_section_6_the_strategy_is_the_only_switch():
    """Error 1: `rack.aware.assignment.enabled` stands in this section alone, and never existed."""
    assert not [field.name for field in fields(TaskConfig) if "enabled" in field.name]
    assert _placed(_app("ab", "b a")).target.tolist() == [1, 0]


def test_section_6_in_a_rolling_bounce_racks_count_once_every_client_has_one():
    """Until the last instance is restarted tasks stay where they were dealt."""
    rounds = [_placed(_app(racks, "b c a")) for racks in ("...", "a..", "ab.", "abc")]

    assert [placed.target.tolist() for placed in rounds] == [[0, 1, 2]] * 3 + [[1, 2, 0]]


@given(sketches(WITH_RACKS))
def test_section_7_active_tasks_never_cross_more_racks_than_without(sketch):
    """Once rebalances have ended, with min_traffic."""
    app, config = sketch.app, sketch.config
    plain = replace(config, strategy=NONE)

    with_racks, without = (converge(app, c).placement for c in (config, plain))
    assert _crossing(app, with_racks)[0] <= _crossing(app, without)[0]


def test_section_7_with_balanced_sub_topologies_they_may():
    """Threads 1 and 3: all tasks are dealt to their data, but six tasks may be no more than 3 of each sub-topology."""
    tasks = tasks_of(4) + tasks_of(4, 1)
    clients = [ClientLine(process_id=process(n), rack="ab"[n], threads=1 + 2 * n) for n in (0, 1)]
    near = zip((line.sources[0] for line in tasks), "bbbbabab", strict=True)
    app = application(tasks, clients, {pair: [rack] for pair, rack in near})

    assert [_crossing(app, _placed(app, s))[0] for s in (NONE, MIN, BALANCE)] == [0, 0, 2]


def test_section_7_with_their_standbys_they_may():
    """Active tasks go first (section 4): they save one partition, and the copies left over cost two."""
    app = _app("ab", "b c", "bc a")
    with_racks, without = (_placed(app, s, num_standby_replicas=1) for s in (MIN, NONE))

    assert _crossing(app, without) == (2, 0)
    assert _crossing(app, with_racks) == (1, 2)


def _crossing(app, placed):
    """Source partitions of active tasks, and changelog partitions of planned standbys, that are read across racks."""
    sources = cross_rack(app, app.source_start, app.source)
    logs = cross_rack(app, app.changelog_start, app.changelog)
    planned = [placed.planned[a:b] for a, b in pairwise(placed.planned_start)]
    active = sum(sources[task, app.client_rack[c]] for task, c in enumerate(placed.active))
    copies = sum(logs[task, app.client_rack[c]] for task, held in enumerate(planned) for c in held)
    return int(active), int(copies)


def test_section_8_a_different_racks_are_a_constraint_and_not_a_weight():
    """Rejected: 10 for a rack in common, 1 for a partition, so that traffic may outweigh it (error 4: no `return`)."""
    dear = Costs(traffic=10**6, non_overlap=0)

    assert _swapped("abc", "b a", [0, 1], dear, zones="xyy") == [1, 0]
    assert _swapped("abc", "b a", [0, 1], dear, zones="xyy", tags=("zone",)) == [0, 1]
