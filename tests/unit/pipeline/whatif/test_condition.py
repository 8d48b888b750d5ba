"""What would be the matter with groups whose members were others, by what was seen of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from evenkeel.engine.config import Settings
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.pipeline.whatif import Can, Joins, Leaves, answer, suppose
from evenkeel.engine.pipeline.whatif.condition import median_peer
from tests.helpers.fluid import SITUATIONS, simulate, snapshots
from tests.helpers.measuring import seen
from tests.helpers.snapshots import groups

SICK = ("silent-member", "stuck-partition", "slow-member")


@cache
def newest():
    """The newest snapshots of simulated groups in trouble, newest first: simulated side by side, as each alone."""
    history = simulate([SITUATIONS[name].group for name in SICK], 41)
    taken = list(snapshots(history))[: -2 - 13 : -1]
    return [{one.group: one for one in groups(each)} for each in taken]


@cache
def sick(name):
    """One of them, with what came before."""
    now, *earlier = (each[name] for each in newest())
    return seen(now, earlier)


def culprit(found):
    """The id and the name of the member that the diagnosis is about."""
    [name] = next(
        fact.subjects for fact in found.facts if fact.measure in (found.diagnosis.measure,)
    )
    return next((one.id, name) for one in found.group.members if one.client_id == name)


def told(found, *changes):
    """The outcome of the strategy that it runs."""
    return answer(Settings(), found, changes).outcomes[0]


def test_a_silent_member_is_silent_as_long_as_it_stays():
    """Whoever else leaves, nobody reads what it has; without it others do."""
    found = sick("silent-member")
    member, name = culprit(found)
    assert found.diagnosis == "member not committing"
    assert told(found, Leaves(member=member)).diagnosed.diagnosis != "member not committing"
    other = next(one.id for one in found.group.members if one.id != member)
    one = told(found, Leaves(member=other))
    assert one.diagnosed.diagnosis == "member not committing"
    assert one.facts[0].subjects == (name,)
    assert one.facts[0].partitions == len(one.lists[member])


def test_a_stuck_partition_is_stuck_whoever_has_it():
    """The record that nobody can read goes along."""
    found = sick("stuck-partition")
    [stuck] = found.facts[0].subjects
    table = found.group.partitions
    names = [f"{t}-{p}" for t, p in zip(table.names, table.partition.tolist(), strict=True)]
    owner = found.group.members[int(table.owner[names.index(stuck)])].id
    one = told(found, Leaves(member=owner))
    assert (found.diagnosis, one.diagnosed.diagnosis) == ("stuck partition", "stuck partition")
    assert one.facts[0].subjects == (stuck,)


def test_what_is_said_of_a_member_counts():
    """The slow one can do what it gets then, and catches up; one that keeps up is too slow once somebody says so."""
    found = sick("slow-member")
    member, _ = culprit(found)
    one = told(found, Can(member=member, per_second=1e6))
    assert (found.diagnosis, one.diagnosed.diagnosis) == ("slow member", "catching up")
    other = next(one for one in found.group.members if one.id != member)
    changes = (Can(member=member, per_second=1e6), Can(member=other.id, per_second=1.0))
    one = told(found, *changes)
    assert one.diagnosed.diagnosis not in ("healthy", "catching up", "unknown")
    supposed = suppose(found, changes)
    owner = supposed.owners(np.array(supposed.owned_today))
    assert supposed.condition.keeps_up(owner) is False
    assert next(iter(supposed.condition.why_not(owner))).subjects == (other.client_id,)


def test_nobody_owns_what_nobody_is_asked_about():
    """Partitions without owner load nobody."""
    supposed = suppose(sick("slow-member"), ())
    nobody = np.full(len(supposed.group.partitions), NONE, np.int32)
    assert supposed.condition.load(nobody).tolist() == [0.0] * len(supposed.group.members)
    assert supposed.condition.keeps_up(nobody) is True


@pytest.mark.parametrize(
    ("per_second", "was", "said", "median"),
    [
        ([5.0, 1.0, 3.0, 9.0], [0, 1, 2, 3, NONE], [np.nan] * 5, 3.0),
        ([5.0, 0.0, np.nan], [0, 1, 2, NONE], [np.nan] * 4, 5.0),
        ([5.0, 1.0], [1, NONE], [7.0, np.nan], 5.0),
        ([np.nan], [0, NONE], [np.nan, 4.0], np.nan),
    ],
)
def test_a_peer_is_the_lower_median_of_what_is_known(per_second, was, said, median):
    """Of who leaves, too; not of who is silent; what somebody says of a member replaces what was seen."""
    found = median_peer(np.array(per_second), np.array(was), np.array(said))
    np.testing.assert_equal(found, median)


def test_a_slow_member_is_no_measure_of_who_joins():
    """Of the others no more is known than what they keep up with, and that is more than the slow one does."""
    found = sick("slow-member")
    assert np.isnan(found.measured_group.measured.capacity).sum() == len(found.group.members) - 1
    supposed = suppose(found, [Joins(member="new-1")])
    assert np.isnan(supposed.condition.peers_firm)
    assert np.isnan(supposed.measured.capacity[-1])
    assert np.isnan(supposed.measured.load.capacity[-1])
    assert supposed.condition.at_least[-1] > found.facts[0].after
