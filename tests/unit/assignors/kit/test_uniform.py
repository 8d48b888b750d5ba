"""The parts of Kafka's uniform assignor: targets and ids, quotas, filling up, and balancing a topic; compiled, too."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.interface import spec, together
from evenkeel.engine.assignors.kafka.group_coordinator import topic_ids
from evenkeel.engine.assignors.kafka.uniform import uniform
from evenkeel.engine.assignors.kafka.uniform.heterogeneous import (
    lowest_first,
    moves_between,
    ranked,
)
from evenkeel.engine.assignors.kafka.uniform.homogeneous import quotas
from evenkeel.engine.assignors.kafka.uniform.target import (
    MemberPartitions,
    answer_of_sets,
    current_target,
    held_wrongly,
)
from evenkeel.engine.assignors.kit.java_order import uuid_halves
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.model.errors import Infeasible

GROUP = spec({m: ["t", "u"] for m in "ab"}, {"u": 2, "t": 3, "v": 0})


def _held(*entries):
    place, topic, number = zip(*entries, strict=True) if entries else ((), (), ())
    return MemberPartitions(
        place=np.array(place, np.int64),
        topic=np.array(topic, np.int64),
        number=np.array(number, np.int64),
    )


def _entries(held):
    return list(zip(held.place.tolist(), held.topic.tolist(), held.number.tolist(), strict=True))


@pytest.mark.parametrize(
    ("situation", "owned", "expected"),
    [
        ("nothing", {}, []),
        ("members by place", {"a": [("t", 0)], "b": [("t", 1)]}, [(0, 1, 1), (1, 1, 0)]),
        ("as listed", {"a": [("t", 2), ("t", 0), ("u", 1)]}, [(1, 1, 2), (1, 1, 0), (1, 0, 1)]),
        (
            "topics where first listed",
            {"a": [("t", 2), ("u", 0), ("t", 1), ("u", 1)]},
            [(1, 1, 2), (1, 1, 1), (1, 0, 0), (1, 0, 1)],
        ),
        ("said twice", {"a": [("t", 2), ("t", 0), ("t", 2)]}, [(1, 1, 2), (1, 1, 0)]),
        ("topics that are gone", {"a": [("gone", 0), ("t", 0)]}, [(1, 1, 0)]),
        ("numbers that are no more stay", {"a": [("u", 7), ("v", 0)]}, [(1, 0, 7), (1, 2, 0)]),
        ("two of one", {"a": [("t", 0)], "b": [("t", 0)]}, [(0, 1, 0), (1, 1, 0)]),
    ],
)
def test_the_target_is_walked_by_place_topic_and_list(situation, owned, expected):
    """Each member's sets, topic by topic as first mentioned, without topics that do not exist."""
    group = spec({m: ["t", "u"] for m in "ab"}, {"u": 2, "t": 3, "v": 0}, owned=owned)

    assert _entries(current_target(group, np.array([1, 0]))) == expected


def test_a_group_without_topics_has_no_target():
    """Claims of topics that are in no table are claims of topics that are gone."""
    group = spec({"a": []}, {}, owned={"a": [("gone", 1)]})

    assert len(current_target(group, np.array([0]))) == 0


def test_sets_that_overlap_are_sent_as_they_are():
    """A partition of two members and one that is no more stay in the lists, sorted, and are findings."""
    held = _held((1, 1, 1), (0, 1, 0), (0, 1, 1), (1, 1, 1), (0, 0, 9))

    answer = answer_of_sets(GROUP, np.array([0, 1]), held)

    assert GROUP.lists(answer) == {"a": [("t", 0), ("t", 1), ("u", 9)], "b": [("t", 1)]}
    assert [finding.subjects for finding in answer.findings] == [("u-9",), ("t-1",)]


def test_what_is_held_wrongly_is_marked():
    """Entries of a partition with two holders, or beyond the topic's end."""
    held = _held((0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 2, 0), (1, 0, 1))

    assert held_wrongly(GROUP, held).tolist() == [True, False, True, True, False]


def _ids(*known, topics=("t", "u", "v")):
    names = topics[: len(known)]
    group = spec({}, dict.fromkeys(names, 1))
    return topic_ids(replace(group, topic_ids=known)).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "bb0359bf-2d35-cb58-1698-1a439ca01ce0",
        "BB0359BF-2D35-CB58-1698-1A439CA01CE0",
        "uwNZvy01y1gWmBpDnKAc4A",
    ],
)
def test_an_id_is_read_in_both_forms(text):
    """Digits as clients write them, or 22 characters as Kafka's tools print them, are one id."""
    assert _ids(text) == [[0xBB0359BF2D35CB58 - (1 << 64), 0x16981A439CA01CE0]]


def test_a_stand_in_depends_on_the_name_alone():
    """The same name has the same stand-in in every group, another name another one."""
    alone, among = _ids(None, topics=("u",)), _ids(str(UUID(int=5)), None)

    assert among == [uuid_halves([UUID(int=5)]).tolist()[0], alone[0]]
    assert _ids(None, None)[0] != _ids(None, None)[1]


def test_any_name_has_a_stand_in():
    """Names that no encoding likes get one, too."""
    assert len(_ids(None, None, topics=("\ud800", "\U0001f600"))) == 2


@pytest.mark.parametrize("text", ["orders", "", "uwNZvy01y1gWmBpDnKAc", "\u00e9" * 22])
def test_what_is_no_id_is_named_with_its_topic(text):
    """A malformed id is not guessed at."""
    with pytest.raises(Infeasible, match=r"topic 't' has the id .*no topic id"):
        _ids(text)


def test_a_group_with_a_malformed_id_leaves_the_others_their_answers():
    """It alone has none, and the others' topics keep their ids."""
    good, ids = spec({"a": ["t"]}, {"t": 1}), (str(UUID(int=5)), None, "orders")
    groups = [replace(good, topic_ids=(known,)) for known in ids]

    answers = uniform(together(groups))

    assert [*answers.problems] == [2]
    assert answers.assignment.owner.tolist() == [0, 1, -1]


def _one_after_another(has, partitions):
    """Each member in turn claims an extra if one is left, and gives it back if it can be placed behind it."""
    least, extras = divmod(partitions, len(has))
    found = []
    for behind, count in zip(reversed(range(len(has))), has, strict=True):
        takes = extras > 0 and (count > least or behind < extras)
        found.append(least + takes)
        extras -= takes
    return found


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(0, 40))
def test_quotas_are_those_of_asking_in_turn(has, partitions):
    """All at once or one after another, the same members may own one more."""
    found = quotas(np.array(has), np.array([partitions]), np.array([0, len(has)]))

    assert found.tolist() == _one_after_another(has, partitions)


def _one_by_one(size, count):
    """Level by level: everyone on the lowest gets one in turn, then the next level joins in."""
    has, taken, level = list(size), [], size[0]
    while len(taken) < count:
        for index in [i for i, n in enumerate(has) if n == level]:
            if len(taken) < count:
                taken.append(index)
                has[index] += 1
        level += 1
    return taken


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9).map(sorted), st.integers(1, 60))
def test_lowest_first_is_filling_level_by_level(size, count):
    """Worked out at once or dealt one by one, the same members get the same turns."""
    assert lowest_first(np.array(size), count).tolist() == _one_by_one(size, count)


@given(st.lists(st.integers(0, 70_000), min_size=1, max_size=9))
def test_ranked_is_by_size_then_place(size):
    """However far sizes lie apart, the fewest come first and equal ones stay in order."""
    places = np.arange(len(size)) * 2
    expected = sorted(zip(size, places.tolist(), strict=True))

    row, sizes = ranked(places, np.array(size))

    assert list(zip(sizes.tolist(), row.tolist(), strict=True)) == expected


def _moves(sizes, of_topic):
    """The (giver, taker) pairs, when the members have so many in all and so many of the topic."""
    end = np.cumsum(of_topic)
    given, taker = moves_between(np.array(sizes), end - of_topic, end)
    giver = np.searchsorted(end, given, side="right")
    return list(zip(giver.tolist(), taker.tolist(), strict=True))


@pytest.mark.parametrize(
    ("situation", "sizes", "of_topic", "expected"),
    [
        ("one apart is even", [2, 3], [2, 3], []),
        ("from the fullest to the emptiest", [0, 2], [0, 2], [(1, 0)]),
        ("the last of the fullest gives first", [0, 3, 3], [0, 3, 3], [(2, 0), (1, 0)]),
        ("the first of the emptiest takes first", [0, 0, 4], [0, 0, 4], [(2, 0), (2, 1)]),
        ("who has nothing of the topic is passed over", [0, 2, 4], [0, 2, 0], [(1, 0)]),
        ("who gave all of it is passed over", [0, 0, 3, 9], [0, 0, 3, 1], [(3, 0), (2, 1)]),
        (
            "one between two is passed over, and they go on in turn",
            [0, 9, 9, 9],
            [0, 9, 0, 9],
            [(3, 0), (1, 0)] * 3,
        ),
        ("nobody has anything of the topic", [0, 5], [0, 0], []),
    ],
)
def test_partitions_move_from_high_to_low(situation, sizes, of_topic, expected):
    """The high level sinks and the low one rises until they are at most one apart."""
    assert _moves(sizes, of_topic) == expected


@pytest.mark.slow
def test_the_compiled_form_moves_the_same():
    """Interpreted and compiled, a thousand members of random loads give and take alike."""
    random = np.random.default_rng(4)
    sizes = np.sort(random.integers(0, 60, 1_000))
    of_topic = random.integers(0, 60, 1_000) * random.integers(0, 2, 1_000)
    of_topic = np.minimum(of_topic, sizes)

    with held_to(compiled=False):
        interpreted = _moves(sizes, of_topic)
    with held_to(compiled=True):
        compiled = _moves(sizes, of_topic)

    assert len(interpreted) > 1_000
    assert compiled == interpreted
