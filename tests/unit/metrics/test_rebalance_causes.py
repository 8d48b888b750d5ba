"""Why a group rebalanced, as consecutive snapshots show it."""

from __future__ import annotations

import pytest

from evenkeel.engine.model.states import Diagnosis, RebalanceCause
from tests.helpers.measuring import observed
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


def _group(number, names, *, instance=(), topics=("t",), size=6, stuck=(), **header):
    """A snapshot of members, given as `client` or `client:id`, that share the partitions in turn."""
    rows = []
    for place, name in enumerate(names):
        client, _, own = name.partition(":")
        held = {t: range(place, size, len(names)) for t in topics}
        told = {"instance_id": client} if client in instance else {}
        rows.append(member(f"{client}-{own or 1}", topics, held, client_id=client, **told))
    end = 11_000 + 3000 * number
    committed = [10_000 if partition in stuck else end - 10 for partition in range(size)]
    snapshot = make_snapshot(
        number=number,
        topics=[topic(name, size, end=end) for name in topics],
        groups=[group("g", members=rows, committed=dict.fromkeys(topics, committed), **header)],
    )
    return groups(snapshot)[0]


def _seen(*snapshots):
    return observed(snapshots[-1], list(snapshots[-2::-1]), commit_interval_seconds=10.0)


def _course(*each, **told):
    """The newest rebalances of a group whose members were so in snapshot after snapshot."""
    return _seen(*(_group(number, names.split(), **told) for number, names in enumerate(each)))


def _cause(seen):
    caused = seen.causes.newest.get(0)
    return None if caused is None else caused.cause


FOUR = "a b c d"


@pytest.mark.parametrize(
    ("course", "cause"),
    [
        ([FOUR, FOUR, FOUR], None),
        ([FOUR, "a:2 b c d", "a:2 b:2 c d"], RebalanceCause.DEPLOY),
        ([FOUR, "a:2 b:2 c:2 d:2"], RebalanceCause.DEPLOY),
        ([FOUR, "e f c d", "e f g h"], RebalanceCause.DEPLOY),
        ([FOUR, "a:2 b c d", "a:3 b c d", "a:4 b c d"], RebalanceCause.CRASH_LOOP),
        (
            [FOUR, "a a:2 b c d", "a:2 a:3 b c d", "a:3 a:4 b c d"],
            RebalanceCause.CRASH_LOOP,
        ),
        (["a b", "a b c d", "a b", "a b e f"], RebalanceCause.SCALER_FLAPPING),
        (["a b", "a b c d", "a b", "a b c:2 d:2"], RebalanceCause.SCALER_FLAPPING),
        ([FOUR, "a:2 b c d"], RebalanceCause.MEMBER_RESTARTED),
        ([FOUR, "a b c d e"], RebalanceCause.MEMBERS_ADDED),
        ([FOUR, "a b c"], RebalanceCause.MEMBERS_REMOVED),
        (["a", "a:2"], RebalanceCause.MEMBER_RESTARTED),
    ],
    ids=lambda each: " | ".join(each) if isinstance(each, list) else None,
)
def test_members_that_come_and_go_tell_the_cause(course, cause):
    """Each cause of members by its smallest course of snapshots."""
    assert _cause(_course(*course)) == cause


@pytest.mark.parametrize(
    "course", [[FOUR, "a b c", "a b c d:2"], [FOUR, "a b c", "a b c", "a b c d:2"]]
)
def test_a_member_without_commits_that_leaves_and_returns_exceeded_its_time_between_polls(course):
    """Until it returns its session expired."""
    stuck = {3}
    first = [_group(n, FOUR.split(), stuck=stuck) for n in range(2)]
    rest = [_group(2 + n, names.split(), stuck=stuck) for n, names in enumerate(course[1:])]

    assert _cause(_seen(*first, rest[0])) == RebalanceCause.SESSION_TIMEOUT
    assert _cause(_seen(*first, *rest)) == RebalanceCause.POLL_TIMEOUT


def test_a_member_that_commits_up_to_its_leave_has_no_timeout():
    """It was stopped."""
    assert _cause(_course(FOUR, FOUR, "a b c")) == RebalanceCause.MEMBERS_REMOVED


def test_topics_and_partitions_are_causes_without_members():
    """What the group subscribes to, and how many partitions that has, is compared by name."""
    before = _group(0, FOUR.split())

    assert (
        _cause(_seen(before, _group(1, FOUR.split(), topics=("t", "u"))))
        == RebalanceCause.SUBSCRIPTION_CHANGED
    )
    assert _cause(_seen(before, _group(1, FOUR.split(), size=8))) == RebalanceCause.PARTITIONS_ADDED


@pytest.mark.parametrize(
    ("header", "cause"),
    [({"coordinator": 1}, RebalanceCause.COORDINATOR_MOVED), ({}, RebalanceCause.UNKNOWN)],
)
def test_an_epoch_that_moves_on_without_other_changes_is_counted(header, cause):
    """All rebalances in between, none of which the members show."""
    told = {"group_type": "consumer", "assignor": "uniform"}
    before = _group(0, FOUR.split(), **told, epoch=5)

    caused = _seen(before, _group(1, FOUR.split(), **told, **header, epoch=8)).causes.newest[0]

    assert (caused.cause, caused.number, caused.by_epoch, caused.missed) == (cause, 3, True, 3)


def test_a_coordinator_that_moves_without_a_rebalance_is_no_rebalance():
    """Members only reconnect."""
    assert _cause(_seen(_group(0, FOUR.split()), _group(1, FOUR.split(), coordinator=1))) is None


@pytest.mark.parametrize(
    ("course", "diagnosis"),
    [
        ([FOUR, "a:2 b c d", "a:3 b c d", "a:4 b c d"], Diagnosis.CRASH_LOOP),
        ([FOUR, "a:2 b c d", "a:3 b c d", "a:4 b c d", "a:4 b c d"], Diagnosis.CRASH_LOOP),
        (["a b", "a b c d", "a b", "a b e f"], Diagnosis.SCALER_FLAPPING),
        ([FOUR, "a:2 b c d", "a:2 b:2 c d"], Diagnosis.HEALTHY),
    ],
    ids=lambda each: " | ".join(each) if isinstance(each, list) else None,
)
def test_what_repeats_is_a_diagnosis_and_a_deploy_is_none(course, diagnosis):
    """The group keeps up all the time."""
    assert _course(*course).diagnoses[0].diagnosis == diagnosis


def test_static_members_restart_without_a_rebalance():
    """Their ids change, and nothing else."""
    caused = _course(FOUR, "a:2 b c d", instance=FOUR.split()).causes.newest[0]

    assert (caused.cause, caused.number, caused.static) == (
        RebalanceCause.MEMBER_RESTARTED,
        0,
        True,
    )
