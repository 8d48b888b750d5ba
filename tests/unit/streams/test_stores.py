"""Which changelog belongs to which sub-topology."""

from __future__ import annotations

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


OTHERS = ["apps-a-changelog", "app-a-changelogs", "app-a-repartition", "other-a-changelog"]
SHOWS_BOTH = {"standby": "0_0 1_0"}


@pytest.mark.parametrize(
    ("changelogs", "more", "topics", "having", "remarks"),
    [
        ([], {}, {}, "", []),
        (OTHERS, {}, {}, "", []),
        ([A, B], {"standby": "1_1"}, {"1": (A, B)}, "1", []),
        ([A, B], {"offsets": {"1_0": -2}}, {"1": (A, B)}, "1", []),
        ([A, B], {"offsets": {"1_0": 77, "9_0": 5}}, {"1": (A, B)}, "1", []),
        (
            [A, B],
            SHOWS_BOTH | {"configured": {"0": [B], "1": [A]}},
            {"0": (B,), "1": (A,)},
            "01",
            [],
        ),
        ([A, B], {"configured": {"0": [B]}}, {"0": (B,), "1": (A,)}, "01", []),
        ([A], {"offsets": {"0_0": 5}, "configured": {"0": []}}, {"0": (), "1": (A,)}, "1", []),
        (
            [A, B],
            {"configured": {"0": [], "1": [A]}},
            {"0": (), "1": (A,)},
            "1",
            [f"changelog {B} is left out, because others are configured for sub-topology 0 and 1"],
        ),
        (
            [A],
            {"configured": {"O": [A]}},
            {"O": (A,)},
            "O",
            ["changelogs are configured for sub-topology O, which has no tasks"],
        ),
        (
            [],
            {"standby": "1_0"},
            {},
            "1",
            ["sub-topology 1 has stores whose changelogs are not known"],
        ),
    ],
    ids=[
        "no changelogs",
        "changelogs of others: the group's name and a hyphen begin it, -changelog ends it",
        "a copy shows it",
        "an offset shows it",
        "an offset beside one of a sub-topology there is none of",
        "configured for both",
        "configured for one: the rest is the other's",
        "configured to have none, whatever was reported",
        "one beside those configured, as of an application whose name begins like this one's",
        "configured where there are no tasks: a slip of the pen",
        "a store without changelog: its topic may be the source topic",
    ],
)
def test_of_two_of_equal_size(changelogs, more, topics, having, remarks):
    """Whose changelogs they are where sizes tell nothing: what shows a store decides, or configuration."""
    shown = {name: value for name, value in more.items() if name != "configured"}
    found = _two(*changelogs, threads=[BOTH, Thread(2, **shown)], configured=more.get("configured"))

    assert (found.topics, found.having, said(found.remarks)) == (
        topics,
        set(having),
        tuple(remarks),
    )
    assert [found.stateful(task) for task in ("0_1", "1_1")] == ["0" in having, "1" in having]


def test_sizes_tell_sub_topologies_apart():
    """Three partitions belong to three tasks; where no sub-topology has as many, that is said."""
    found = _stores([Thread(1, "0_0 0_1 1_0 1_1 1_2")], {"0": Sub(2), "1": Sub(3, [A, B])})
    none = _stores([BOTH], {"0": Sub(2), "1": Sub(2), "7": Sub(3, [A])})

    assert (found.topics, found.having, said(found.remarks)) == ({"1": (A, B)}, {"1"}, ())
    assert (none.topics, none.having) == ({}, frozenset())
    assert said(none.remarks) == (f"changelog {A} has 3 partitions, as no sub-topology has tasks",)


def test_changelogs_that_several_may_have_stay_open():
    """Both count as stateful, neither gets their racks, and it is said with the way out."""
    found, shown = _two(A), _two(A, B, threads=[BOTH, Thread(2, **SHOWS_BOTH)])

    assert (found.topics, found.having) == (shown.topics, shown.having) == ({}, {"0", "1"})
    assert (found.changelogs("0_0"), found.size("0_0")) == ([], 0)
    (line,) = said(found.remarks)
    assert line.startswith(
        f"changelog {A} belongs to sub-topology 0 or 1 (the Kafka protocol doesn't expose which)"
    )
    assert "changelogs of [rules.streams]" in line
    assert [line.split()[1] for line in said(shown.remarks)] == [A, B]


def test_an_open_question_does_not_hide_another():
    """One changelog is open between 0 and 1; that of sub-topology 2 is missing, and both are said."""
    threads = [BOTH, Thread(2, "2_0", "2_0")]
    found = _stores(threads, {"0": Sub(2, [A]), "1": Sub(2), "2": Sub(1)})

    assert [line.split()[0] for line in said(found.remarks)] == ["changelog", "sub-topology"]
    assert said(found.remarks)[1].startswith("sub-topology 2 has stores")


def test_the_size_of_a_task_is_that_of_all_its_changelogs():
    """End offsets of its own partition, summed; an unknown one adds nothing."""
    one, two = [Thread(1, "1_0 1_1")], {"1": Sub(2, [A, B])}
    found = _stores(one, two, ends={A: [5, 7], B: [100, None]})

    assert (found.size("1_0"), found.size("1_1")) == (105, 7)
    assert found.ends == {(A, 0): 5, (A, 1): 7, (B, 0): 100}
