"""What a live application has, beside what each strategy would give it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.streams.compare import (
    outcome,
    outcomes,
    present,
    presumed,
    seen_to_run,
)
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.settings import STATELESS, RackStrategy, StickyTasks
from evenkeel.engine.streams.simulate import converge
from tests.helpers.facts import said, told
from tests.helpers.streams import Shape, process, sketch, sketches
from tests.helpers.streams_groups import (
    Sub,
    Thread,
    live_group,
    live_sketch,
    on,
    presume,
    reproduced,
)

STRATEGIES = tuple(RackStrategy)
SMALL = Shape(most_tasks=9, most_clients=5)
KNOWN = replace(SMALL, known_racks=True)


def _answered(one, strategy, *, kip_1071=False):
    """A live group that is where a strategy leads to, and its settings."""
    told = replace(one.config, strategy=strategy)
    found = converge(one.app, told)
    assume(found.settled)
    placed = found.placement
    owner = np.where(placed.target == NONE, placed.active, placed.target)
    group, settled = live_sketch(
        one, owner, (placed.planned_start, placed.planned), kip_1071=kip_1071
    )
    return running(group, settled)


@given(sketches(SMALL) | sketches(KNOWN), st.sampled_from(STRATEGIES), st.booleans())
def test_a_group_that_is_where_a_strategy_leads_is_recognized(one, strategy, kip_1071):
    """Built from the strategy's own answer, it is reproduced exactly, and nothing moves or warms up."""
    live = _answered(one, strategy, kip_1071=kip_1071)
    found = outcome(live, strategy)

    assert strategy in reproduced(live)
    assert (found.moves, found.warming) == (0, 0)
    assert found.cost == present(live).cost
    assert found.copies_crossing == present(live).copies_crossing


def _scattered(seed):
    """An application whose tasks run anywhere or nowhere, with copies anywhere else."""
    chance = Random(seed)
    one = sketch(chance, SMALL)
    app = one.app
    clients = range(len(app.clients))
    owner = [NONE if chance.random() < 0.1 else chance.choice(clients) for _ in app.tasks]
    copies = [
        [c for c in clients if c != mine and keeps and chance.random() < 0.4]
        for mine, keeps in zip(owner, app.stateful.tolist(), strict=True)
    ]
    named = {task for task, c in enumerate(owner) if c != NONE}
    assume(all(task in named or copies[task] for task in range(len(app.tasks))))
    group, told = live_sketch(one, owner, copies)
    return one, running(group, told)


def _across(racks, mine):
    """(crosses, unknown) of one partition read from a rack."""
    if mine is not None and mine in racks:
        return 0, 0
    sure = mine is not None and racks and None not in racks
    return (1, 0) if sure else (0, 1)


def _recount(one, live, found):
    """Crossing and unknown of each task, those of copies, moves and cost, from names alone."""
    lines = {task.id: task for task in one.tasks}
    app = live.app
    racks = {client.process_id: client.rack for client in one.clients}
    # what no broker has is not known, see `test_live`
    rack = {
        name: None if known == NONE else racks[name]
        for name, known in zip(app.clients, app.known_rack.tolist(), strict=True)
    }
    rows, copied, moves, cost, unsure = [], [0, 0], 0, 0, 0
    for task, name in enumerate(app.tasks):
        mine, before = int(found.owner[task]), int(live.owner[task])
        told = lines[name].sources if before != NONE else []
        pairs = [_across(one.replicas.get(p, []), rack[app.clients[mine]]) for p in told]
        rows.append((sum(a for a, _ in pairs), sum(b for _, b in pairs)))
        costs = live.config.costs if lines[name].stateful else STATELESS
        cost += costs.traffic * rows[-1][0]
        unsure += rows[-1][1]
        if NONE not in (mine, before) and mine != before:
            moves += 1
            cost += costs.non_overlap
        for client in found.copies[found.copies_start[task] : found.copies_start[task + 1]]:
            for p in lines[name].changelogs:
                crosses, unknown = _across(one.replicas.get(p, []), rack[app.clients[client]])
                copied[0] += crosses
                copied[1] += unknown
    return rows, tuple(copied), moves, None if unsure else cost


@given(st.integers(0, 1 << 32))
def test_crossing_unknown_moves_and_cost_are_those_of_a_plain_recount(seed):
    """Task by task and copy by copy, for what runs now and for every strategy."""
    one, live = _scattered(seed)
    for found in [present(live), *(outcome(live, strategy) for strategy in RackStrategy)]:
        rows, copied, moves, cost = _recount(one, live, found)

        assert list(zip(found.crossing.tolist(), found.unknown.tolist(), strict=True)) == rows
        assert (found.copies_crossing, found.copies_unknown) == copied
        assert (found.moves, found.cost) == (moves, cost)


STORE = "app-store-changelog"
TWO = {"0": Sub(2), "1": Sub(2, [STORE])}


def _swapped(told=None, **more):
    """Two clients in two racks; every task runs on the client whose rack has no replica of what it reads."""
    threads = [Thread(1, "0_0 1_0", "1_1", rack="a"), Thread(2, "0_1 1_1", "1_0", rack="b")]
    replicas = on("source-0", "b a") | on("source-1", "b a") | on(STORE, "ab ?")
    return running(live_group(threads, TWO, replicas=replicas, **more), told)


def test_what_runs_now_costs_by_state():
    """A stateful task across racks costs 10, a stateless one 1; nothing moves, nothing warms up."""
    now = present(_swapped())

    assert (now.strategy, now.placement, now.racks_off) == (None, None, None)
    assert (now.crossing.tolist(), now.unknown.tolist()) == ([1, 1, 1, 1], [0, 0, 0, 0])
    assert (now.cost, now.moves, now.warming) == (22, 0, 0)
    assert (now.copies_crossing, now.copies_unknown) == (0, 1)


def test_a_strategy_is_charged_for_what_it_moves():
    """All four tasks change clients; only those with state pay for it."""
    config = StreamsSettings(num_standby_replicas=0)
    found = outcome(_swapped(config), RackStrategy.MIN_TRAFFIC)

    assert found.crossing.tolist() == [0, 0, 0, 0]
    assert (found.moves, found.cost) == (4, 2)
    assert (found.copies_crossing, found.copies_unknown) == (0, 0)


def test_a_broker_without_rack_is_left_out_of_the_count():
    """It may be here or elsewhere; beside a replica that is here it does not matter."""
    threads = [Thread(1, "0_0 0_1 0_2", rack="a")]
    group = live_group(threads, {"0": Sub(3)}, replicas=on("source-0", "? a? b?"))
    now = present(running(group))

    assert (now.crossing.tolist(), now.unknown.tolist()) == ([0, 0, 0], [1, 0, 1])


def test_partitions_of_unknown_replicas_are_unknown():
    """No replica told is not the same as no replica near."""
    group = live_group([Thread(1, "0_0", rack="a")], {"0": Sub(1)}, replicas={("source-0", 0): []})
    now = present(running(group))

    assert (now.crossing.tolist(), now.unknown.tolist()) == ([0], [1])


def test_a_task_that_runs_nowhere_is_no_move_and_crosses_nothing():
    """Its start under a strategy is no change of hands."""
    threads = [Thread(1, "1_0", "1_1", rack="a"), Thread(2, rack="b")]
    live = running(live_group(threads, {"1": Sub(2, [STORE])}))
    now, none = present(live), outcome(live, RackStrategy.NONE)

    assert now.owner.tolist() == [0, NONE]
    assert (now.crossing.tolist()[1], now.unknown.tolist()[1]) == (0, 0)
    assert none.owner.tolist()[1] != NONE
    assert none.moves == 0


def test_copies_that_are_to_warm_up_are_counted():
    """The store is far from the client it is dealt to."""
    threads = [Thread(1, "1_0 1_1", rack="a"), Thread(2, rack="b")]
    group = live_group(threads, {"1": Sub(2, [STORE])}, ends={STORE: 50_000})
    found = outcome(running(group), RackStrategy.NONE)

    assert (found.moves, found.warming) == (1, 1)


def test_what_nobody_reads_neither_crosses_nor_is_unknown():
    """The partitions of tasks that run nowhere, where they are known."""
    group = live_group([Thread(1, "0_0 0_1")], {"0": Sub(2)}, replicas=on("source-0", "b ?"))
    live = running(group)
    idle = present(replace(live, owner=np.full(2, NONE, np.int32)))

    assert present(live).unknown.tolist() == [1, 1]
    assert (idle.crossing.tolist(), idle.unknown.tolist()) == ([0, 0], [0, 0])


@pytest.mark.parametrize("name", ["balance_subtopology", "balanced_min_cost"])
def test_a_configured_strategy_is_the_one_it_runs(name):
    """Nothing is presumed then, whatever the group looks like."""
    told = StreamsSettings(rack_aware_assignment_strategy=name, num_standby_replicas=0)
    found = presume(_swapped(told))

    assert found.runs is found.configured is RackStrategy.BALANCE_SUBTOPOLOGY
    assert found.config.strategy is RackStrategy.BALANCE_SUBTOPOLOGY
    assert not any("assignment.strategy" in line for line in said(found.remarks))


def test_a_strategy_is_presumed_where_it_gives_exactly_what_there_is():
    """Only with racks do the tasks lie as they do."""
    threads = [Thread(1, "0_1", rack="a"), Thread(2, "0_0", rack="b")]
    found = presume(
        running(live_group(threads, {"0": Sub(2)}, replicas=on("source-0", "b a"))),
    )

    assert reproduced(found) == [
        RackStrategy.MIN_TRAFFIC,
        RackStrategy.BALANCE_SUBTOPOLOGY,
    ]
    assert found.runs is found.config.strategy is RackStrategy.MIN_TRAFFIC
    assert found.configured is None
    assert (
        "assumed to be min_traffic, which gives exactly the current assignment"
        in said(found.remarks)[0]
    )


def test_copies_are_part_of_what_there_is():
    """The owner is the same; of two clients that could keep the copy, Kafka chooses one."""
    kept = [
        [Thread(1, "1_0"), Thread(2, standby=second), Thread(3, standby=third)]
        for second, third in (("1_0", ""), ("", "1_0"))
    ]
    known = [reproduced(running(live_group(t, {"1": Sub(1, [STORE])}))) for t in kept]

    assert sorted(known) == [[], list(RackStrategy)]


@pytest.mark.parametrize("source", ["subscription", "configured"])
def test_what_a_rack_strategy_would_lead_to_takes_known_racks_and_says_who_has_to_send_them(source):
    """It is the same placement whoever said the racks; `none` is what Kafka does until clients say them."""
    threads = [
        Thread(1, "0_0 0_1", rack="a", columns={"rack_source": source}),
        Thread(2, "0_2 0_3", rack="b"),
    ]
    told = StreamsSettings(rack_aware_assignment_strategy="min_traffic")
    live = running(live_group(threads, {"0": Sub(4)}, replicas=on("source-0", "b b a a")), told)
    now, none, least = present(live), *(outcome(live, each) for each in STRATEGIES[:2])
    application = presumed(live, [none, least])

    assert [int(one.crossing.sum()) for one in (now, none, least)] == [4, 2, 0]
    assert (least.moves, least.cost, least.racks_off) == (4, 0, None)
    if source == "configured":
        assert (least.untold.measure, least.untold.subjects) == ("clients_without_rack", ("app-1",))
        assert application.runs is RackStrategy.NONE
        assert seen_to_run(live, [none, least]) == {RackStrategy.NONE}
    else:
        assert least.untold is None
        assert application.runs is RackStrategy.MIN_TRAFFIC


def test_reads_from_leaders_cross_by_the_leader_and_cost_by_all_replicas():
    """Kafka's strategies weigh replicas, whoever serves reads: both are at home, and one of two reads is not."""
    threads = [Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")]
    replicas = on("source-0", "ba ba")
    by_leader, by_any = (
        present(running(live_group(threads, {"0": Sub(2)}, replicas=replicas, follower_fetching=f)))
        for f in (False, True)
    )

    assert by_leader.crossing.tolist() == [1, 0]
    assert by_any.crossing.tolist() == by_any.far.tolist() == by_leader.far.tolist() == [0, 0]
    assert by_leader.cost == by_any.cost == 0


def test_kafkas_default_is_presumed_where_nothing_gives_what_there_is():
    """One client has everything: no strategy does that."""
    threads = [Thread(1, "0_0 0_1", rack="a"), Thread(2, rack="b")]
    found = presume(running(live_group(threads, {"0": Sub(2)})))

    assert reproduced(found) == []
    assert found.runs is RackStrategy.NONE
    assert "assumed to be none, Kafka's default" in said(found.remarks)[0]


def test_of_several_that_fit_the_default_is_presume():
    """Equal costs everywhere: all of them give the same."""
    threads = [Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")]
    live = running(live_group(threads, {"0": Sub(2)}, replicas=on("source-0", "ab ab")))

    assert reproduced(live) == list(RackStrategy)
    assert presume(live).runs is RackStrategy.NONE


def test_where_the_broker_assigns_its_own_strategy_runs():
    """A KIP-1071 group has no such setting, and none is claimed."""
    live = _swapped(kip_1071=True)
    found = presume(live)

    assert found.runs is StickyTasks.SERVER
    assert found.remarks == live.remarks
    assert not any("assignment.strategy" in line for line in said(found.remarks))


def test_the_configured_sticky_assignor_runs():
    """It alone is replayed; another's strategy is refused."""
    live = running(
        live_group([Thread(1, "0_0"), Thread(2, "0_1")], {"0": Sub(2)}),
        StreamsSettings(task_assignor="sticky"),
    )

    assert presume(live).runs is StickyTasks.CLIENT
    assert [one.strategy for one in outcomes(live)] == [StickyTasks.CLIENT]
    for strategy in (RackStrategy.NONE, StickyTasks.SERVER):
        with pytest.raises(Infeasible, match="runs the sticky task assignor"):
            outcome(live, strategy)


@pytest.mark.parametrize("keeper", [1, 2, 3])
def test_what_lies_on_a_disk_counts_as_kept_for_the_sticky_assignor(keeper):
    """Of three idle clients the one with an old copy takes the task that the first has too much."""
    threads = [Thread(n + 1, "0_0 0_1 0_2" if n == 0 else "") for n in range(4)]
    threads[keeper] = replace(threads[keeper], offsets={"0_1": 400})
    live = running(
        live_group(threads, {"0": Sub(3, ["app-counts-changelog"])}),
        StreamsSettings(task_assignor="sticky", num_standby_replicas=0),
    )
    found = outcome(live, StickyTasks.CLIENT)

    assert live.app.clients == tuple(map(process, range(1, 5)))
    assert found.owner.tolist()[:2] == [0, keeper]
    assert len(set(found.owner.tolist())) == 3


def test_why_racks_play_no_part_is_told():
    """A client without rack switches them off, for each strategy but `none` as a reason."""
    threads = [Thread(1, "0_0", rack="a"), Thread(2, "0_1")]
    live = running(live_group(threads, {"0": Sub(2)}))

    assert told(outcome(live, RackStrategy.NONE).racks_off) == "the strategy is none"
    assert "1 client" in (told(outcome(live, RackStrategy.MIN_TRAFFIC).racks_off) or "")
