"""Which changelog belongs to which sub-topology."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.streams.stores import stores_of
from tests.helpers.facts import said
from tests.helpers.streams_groups import Sub, Thread, live_group

A, B = "app-a-changelog", "app-b-changelog"
BOTH = Thread(1, "0_0 0_1 1_0 1_1")
"""Two sub-topologies of two tasks each: sizes tell nothing."""


def _stores(threads, subs, configured=None, **more):
    group = live_group(threads, subs, **more)
    told = [member.tasks for member in group.members]
    tasks = [task for one in told for task in (*one.active, *one.standby, *one.warmup)]
    return stores_of(group, sorted(set(tasks)), told, configured or {})


def _two(*changelogs, threads=(BOTH,), configured=None, **more):
    """The application of `BOTH` with these changelogs, and whose they really are hidden from everyone."""
    return _stores(threads, {"0": Sub(2), "1": Sub(2, changelogs)}, configured, **more)


def test_the_topology_of_kip_1071_names_them():
    """Equal sizes do not matter, and no configuration does."""
    found = _two(A, B, kip_1071=True, configured={"0": [A]})

    assert found.topics == {"0": (), "1": (A, B)}
    assert found.having == {"1"}
    assert [found.stateful(task) for task in ("0_1", "1_1")] == [False, True]
    assert (found.changelogs("1_1"), found.changelogs("0_1")) == ([(A, 1), (B, 1)], [])
    assert said(found.remarks) == ()


def test_without_changelogs_no_task_keeps_state():
    """A classic group with source topics only."""
    found = _two()

    assert (found.topics, found.having, said(found.remarks)) == ({}, frozenset(), ())
    assert found.size("0_0") == 0


def test_the_only_sub_topology_of_that_size_has_it():
    """Three partitions, three tasks."""
    found = _stores([Thread(1, "0_0 0_1 1_0 1_1 1_2")], {"0": Sub(2), "1": Sub(3, [A, B])})

    assert (found.topics, found.having, said(found.remarks)) == ({"1": (A, B)}, {"1"}, ())


@pytest.mark.parametrize(
    ("shown", "what"),
    [
        ({"standby": "1_1"}, "a copy"),
        ({"offsets": {"1_0": -2}}, "an offset"),
        (
            {"offsets": {"1_0": 77, "9_0": 5}},
            "an offset beside one of a sub-topology there is none of",
        ),
    ],
)
def test_of_several_the_one_that_shows_stores_has_it(shown, what):
    """Of two sub-topologies of equal size only the second is known to keep state."""
    found = _two(A, B, threads=[BOTH, Thread(2, **shown)])

    assert (found.topics, found.having) == ({"1": (A, B)}, {"1"}), what
    assert said(found.remarks) == ()


def test_a_changelog_that_several_may_have_stays_open():
    """Both count as stateful, neither gets its racks, and it is said with the way out."""
    found = _two(A)

    assert (found.topics, found.having) == ({}, {"0", "1"})
    assert (found.changelogs("0_0"), found.size("0_0")) == ([], 0)
    (line,) = said(found.remarks)
    assert line.startswith(
        f"changelog {A} belongs to sub-topology 0 or 1, which is not on the wire"
    )
    assert "changelogs of [rules.streams]" in line


def test_two_that_show_stores_leave_it_open():
    """Two stores, two changelogs, and no telling them apart."""
    found = _two(A, B, threads=[BOTH, Thread(2, standby="0_0 1_0")])

    assert (found.topics, found.having) == ({}, {"0", "1"})
    assert [line.split()[1] for line in said(found.remarks)] == [A, B]


def test_configuration_tells_them_apart():
    """Sizes and copies are not asked."""
    found = _two(
        A, B, threads=[BOTH, Thread(2, standby="0_0 1_0")], configured={"0": [B], "1": [A]}
    )

    assert (found.topics, found.having, said(found.remarks)) == (
        {"0": (B,), "1": (A,)},
        {"0", "1"},
        (),
    )


def test_what_is_configured_for_one_leaves_the_rest_to_the_other():
    """The list is all that the sub-topology has, so the other changelog is the other one's."""
    found = _two(A, B, configured={"0": [B]})

    assert (found.topics, found.having, said(found.remarks)) == (
        {"0": (B,), "1": (A,)},
        {"0", "1"},
        (),
    )


def test_a_sub_topology_can_be_configured_to_have_none():
    """Then its tasks keep no state, whatever was reported, and what is there belongs to the other."""
    found = _two(A, threads=[replace(BOTH, offsets={"0_0": 5})], configured={"0": []})

    assert (found.stateful("0_0"), found.stateful("1_0")) == (False, True)
    assert (found.changelogs("1_0"), said(found.remarks)) == ([(A, 0)], ())


def test_a_changelog_beside_those_configured_is_left_out():
    """As one of an application whose name begins like this one's."""
    found = _two(A, B, configured={"0": [], "1": [A]})

    assert found.topics == {"0": (), "1": (A,)}
    (line,) = said(found.remarks)
    assert (
        line == f"changelog {B} is left out, because others are configured for sub-topology 0 and 1"
    )


def test_configuration_of_a_sub_topology_there_is_none_of_is_said():
    """A slip of the pen must not make a store vanish in silence."""
    found = _stores([Thread(1, "0_0")], {"0": Sub(1, [A])}, configured={"O": [A]})

    assert not found.stateful("0_0")
    assert said(found.remarks) == (
        "changelogs are configured for sub-topology O, which has no tasks",
    )


def test_a_changelog_of_no_ones_size_is_said():
    """Three partitions where every sub-topology has two tasks."""
    found = _stores([BOTH], {"0": Sub(2), "1": Sub(2), "7": Sub(3, [A])})

    assert (found.topics, found.having) == ({}, frozenset())
    assert said(found.remarks) == (f"changelog {A} has 3 partitions, as no sub-topology has tasks",)


def test_a_store_without_changelog_is_said():
    """Its copies show it; its topic may be the source topic."""
    found = _two(threads=[BOTH, Thread(2, standby="1_0")])

    assert found.having == {"1"}
    assert said(found.remarks) == ("sub-topology 1 has stores whose changelogs are not known",)


def test_an_open_question_does_not_hide_another():
    """One changelog is open between 0 and 1; that of sub-topology 2 is missing, and both are said."""
    threads = [BOTH, Thread(2, "2_0", "2_0")]
    found = _stores(threads, {"0": Sub(2, [A]), "1": Sub(2), "2": Sub(1)})

    assert [line.split()[0] for line in said(found.remarks)] == ["changelog", "sub-topology"]
    assert said(found.remarks)[1].startswith("sub-topology 2 has stores")


def test_changelogs_of_other_applications_are_not_its_own():
    """The group's name and a hyphen begin it, `-changelog` ends it."""
    others = ["apps-a-changelog", "app-a-changelogs", "app-a-repartition", "other-a-changelog"]
    found = _stores([BOTH], {"0": Sub(2, others), "1": Sub(2)})

    assert (found.topics, found.having, said(found.remarks)) == ({}, frozenset(), ())


def test_the_size_of_a_task_is_that_of_all_its_changelogs():
    """End offsets of its own partition, summed; an unknown one adds nothing."""
    one, two = [Thread(1, "1_0 1_1")], {"1": Sub(2, [A, B])}
    found = _stores(one, two, ends={A: [5, 7], B: [100, None]})

    assert (found.size("1_0"), found.size("1_1")) == (105, 7)
    assert found.ends == {(A, 0): 5, (A, 1): 7, (B, 0): 100}
