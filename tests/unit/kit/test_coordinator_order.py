"""How a live group's coordinator walks targets, against what the JVM made of the same records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.assignor import spec
from evenkeel.engine.assignors.uniform import Uniform
from evenkeel.engine.kit.coordinator_order import as_coordinator_walks
from tests.helpers.owned import owned

IDS = (
    "bb0359bf-2d35-cb58-1698-1a439ca01ce0",
    "eba04082-bb45-8762-e2d4-8d48516d113a",
    "5325bf37-e245-dd93-0639-6d357080d138",
    "64938cc5-a8ce-5d80-fea6-c182aa3b81d9",
    "333086d2-487c-72d6-aa2d-56cd3f717be5",
    "97f3d403-7d51-68e2-8308-85887f870457",
    "8db552fb-0a47-f1aa-5665-8f4baedd8448",
    "73634eea-794c-7a57-5ac3-edd9b9ed67fa",
    "794d8c1b-201c-719f-1d40-37b05988afc6",
    "b13bc376-a05a-e2cf-33d8-76c6b93907c6",
    "527ae89d-317b-fa55-2919-068b3b7a4f6b",
    "09d76530-5730-b1cd-af1d-7051f7298948",
    "e49d73dc-d55d-1ac6-c483-58219e162d62",
)
NUMBERS = (3, 4, 7, 10, 21, 25, 35, 38, 48, 60, 62, 66, 71)
WALKED = (66, 3, 35, 4, 38, 7, 71, 10, 48, 21, 25, 60, 62)
"""How Kafka's `Assignment.fromRecord` walks those numbers of one topic."""


def _group(topics):
    names = [f"t{n}" for n in range(topics)]
    claims = [*((names[0], number) for number in NUMBERS), *((name, 0) for name in names[1:])]
    group = spec({"a": [], "b": []}, dict.fromkeys(names, 72), owned={"b": claims})
    return replace(group, topic_ids=IDS[:topics])


@pytest.mark.parametrize(
    ("topics", "order"),
    [(6, [2, 5, 0, 4, 1, 3]), (13, [0, 10, 8, 12, 1, 2, 5, 11, 6, 9, 4, 3, 7])],
)
def test_topics_are_walked_by_the_hash_of_their_ids(topics, order):
    """A map of more than 12 topics has grown, so the same topics come in another order."""
    walked = as_coordinator_walks(_group(topics)).claim_topic.tolist()

    assert list(dict.fromkeys(walked)) == order


def test_numbers_are_walked_by_bucket():
    """A set of numbers is only in order as far as its table reaches."""
    walked = as_coordinator_walks(_group(6))

    assert tuple(walked.claim_partition[walked.claim_topic == 0].tolist()) == WALKED


def test_a_set_of_twelve_numbers_has_a_table_of_32():
    """Made at once from a list, a set of 12 asks for more room than one that grew; the JVM walked it so."""
    listed = [33, 1, 17, 5, 0, 100, 40, 41, 42, 43, 44, 45]
    group = spec({"a": []}, {"t": 101}, owned={"a": [("t", number) for number in listed]})

    walked = as_coordinator_walks(group).claim_partition.tolist()

    assert walked == [0, 33, 1, 100, 5, 40, 41, 42, 43, 44, 45, 17]


def test_members_and_their_claims_stay():
    """Only the order within each member's list changes."""
    group = spec({"a": [], "b": []}, {"t": 40, "u": 1}, owned={"a": [("t", 17)], "b": [("t", 1)]})

    walked = as_coordinator_walks(group)

    assert walked.claim_start.tolist() == group.claim_start.tolist()
    assert walked.claim_partition.tolist() == [17, 1]


def test_who_must_give_up_gives_up_what_is_walked_last():
    """The order decides what a member with too many keeps."""
    members = {"c": ["t"], "d": ["t"]}
    group = spec(members, {"t": 18}, owned={"c": [("t", p) for p in (*range(8), 15, 16, 17)]})

    assert owned(Uniform(), group)["c"] == "t-0 t-1 t-2 t-3 t-4 t-5 t-6 t-7 t-15"
    assert owned(Uniform(), as_coordinator_walks(group))["c"] == (
        "t-0 t-1 t-2 t-3 t-4 t-5 t-6 t-16 t-17"
    )
