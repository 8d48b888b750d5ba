"""The election of a classic group: who is let in, what wins, who leads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.kafka.election import elect, poll
from evenkeel.engine.messages.wording import why_elected
from evenkeel.engine.model.errors import InputError

NAMES = ("range", "roundrobin", "sticky", "cooperative-sticky", "acme", "Aa", "BB")

groups = st.dictionaries(
    st.text(max_size=4), st.lists(st.sampled_from(NAMES), unique=True, max_size=5), max_size=8
)


@pytest.mark.parametrize(
    ("lists", "elected", "refused", "coordinator_order"),
    [
        ([["range", "sticky"], ["sticky", "range"]], "sticky", [], ["c1", "c2"]),
        ([["roundrobin", "range"], ["range", "roundrobin"]], "range", [], ["c1", "c2"]),
        (
            [["cooperative-sticky", "range"], ["range", "cooperative-sticky"]],
            "range",
            [],
            ["c1", "c2"],
        ),
        ([["fair", "lag"], ["lag", "fair"]], "lag", [], ["c1", "c2"]),
        ([["Aa", "BB"], ["BB", "Aa"]], "Aa", [], ["c1", "c2"]),
        (
            [["sticky", "range"], ["range", "sticky"], ["range", "roundrobin", "sticky"]],
            "range",
            [],
            ["c3", "c1", "c2"],
        ),
        (
            [
                ["roundrobin", "range"],
                ["sticky", "range"],
                ["roundrobin"],
                ["sticky"],
                ["lag", "range"],
            ],
            "range",
            ["c3", "c4"],
            ["c5", "c1", "c2"],
        ),
        ([[], ["range"]], "range", ["c1"], ["c2"]),
    ],
)
def test_it_answers_as_the_coordinator_of_kafka_4_3_did(lists, elected, refused, coordinator_order):
    """These groups were put before `ClassicGroup`: its protocol, whom it refused, the order of its members."""
    election = elect({f"c{i}": listed for i, listed in enumerate(lists, 1)})

    assert (election.elected, list(election.refused)) == (elected, refused)
    assert list(election.coordinator_order) == coordinator_order


def test_names_in_one_bucket_are_decided_by_the_first_vote():
    """c1 joined second, yet the coordinator walks it first, and so its vote is the first one counted."""
    assert elect({"c2": ["BB", "Aa"], "c1": ["Aa", "BB"]}).elected == "Aa"


def test_the_next_leader_is_the_first_key_of_the_members_map():
    """The article's `members.keys.head` holds: c3 joined last, and `ClassicGroup` put it in c1's place."""
    election = elect({f"c{i}": ["range"] for i in (1, 2, 3)})

    assert election.leader == "c1"
    assert election.next_leader("c1") == "c3"
    assert election.next_leader("c3") == "c1"


def test_more_members_than_a_small_map_holds_are_walked_in_a_larger_one():
    """Fourteen members, in the order in which `ClassicGroup` gave them."""
    coordinator_order = elect({f"m{i}": ["range"] for i in range(14)}).coordinator_order

    assert coordinator_order == (*(f"m{i}" for i in range(10)), "m11", "m10", "m13", "m12")


def test_a_leader_that_is_alone_has_no_successor():
    """Then the group is empty."""
    assert elect({"c1": ["range"]}).next_leader("c1") is None


def test_the_order_that_a_broker_told_beats_the_emulated_one():
    """A map that was larger once walks otherwise than one that took these members afresh."""
    told = elect({"c1": ["range"], "c2": ["range"]}, coordinator_order=["c2", "gone", "c1"])

    assert told.coordinator_order == ("c2", "c1")
    assert told.next_leader(None) == "c2"


def test_a_refused_member_changes_nothing_for_those_after_it():
    """What it lists is not counted: c3 shares sticky with c2 only, which is not in the group."""
    election = elect({"c1": ["range"], "c2": ["sticky"], "c3": ["sticky"], "c4": ["range"]})

    assert list(election.lists) == ["c1", "c4"]


def test_class_names_count_as_what_they_are_on_the_wire():
    """One member is configured in Java, the other in librdkafka."""
    java = ["org.apache.kafka.clients.consumer.RoundRobinAssignor", "RangeAssignor"]

    assert elect({"java": java, "c": ["roundrobin"]}).elected == "roundrobin"


@pytest.mark.parametrize(
    ("listed", "wrong"), [(["range", "RangeAssignor"], "'range' is listed twice"), ([""], "empty")]
)
def test_a_list_that_no_client_can_have_is_an_error_naming_the_member(listed, wrong):
    """Clients refuse a strategy that is there twice."""
    with pytest.raises(InputError, match=rf"member 'c1'.*{wrong}"):
        elect({"c1": listed})


@pytest.mark.parametrize(
    ("lists", "why"),
    [
        ({("range", "sticky"): 1, ("sticky", "range"): 2}, "it has 2 of 3 votes, range 1"),
        ({("range",): 1, ("sticky", "range"): 2}, "the only one that all members list"),
        ({("range", "sticky", "fair"): 3}, "every member prefers it to sticky, fair"),
        ({}, "the group has no members"),
    ],
)
def test_the_winner_comes_with_its_reason(lists, why):
    """Votes, or that there was no choice."""
    assert why_elected(poll(lists)) == why


def test_nobody_elects_nothing():
    """An empty group has no strategy, leader or tie."""
    election = elect({})

    assert (election.elected, election.leader, election.poll.tied) == (None, None, ())
    assert election.next_leader(None) is None


@given(groups)
def test_whoever_is_let_in_shares_something_with_all_others_and_nobody_is_refused_for_nothing(
    lists,
):
    """The candidates are what all members that were let in list, and a refused one lists none of what there was."""
    election = elect(lists)

    for listed in election.lists.values():
        assert set(election.poll.candidates) <= set(listed)
    assert bool(election.poll.candidates) is bool(election.lists)
    for member, common in election.refused.items():
        assert not set(common) & set(lists[member])
    assert {*election.lists, *election.refused} == set(lists)


@given(groups)
def test_nothing_else_has_more_votes_and_each_vote_is_the_first_that_can_win(lists):
    """Counted again, plainly."""
    election = elect(lists)
    allowed = election.poll.candidates

    for member, vote in election.ballots.items():
        assert vote == next(name for name in lists[member] if name in allowed)
    counted = [list(election.ballots.values()).count(name) for name in election.votes]
    assert list(election.votes.values()) == counted
    if election.elected is not None:
        assert election.votes[election.elected] == max(counted)
