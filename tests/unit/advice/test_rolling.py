"""What a group elects between two rolling restarts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.advice.rolling_restart import rolling
from evenkeel.engine.assignors.kafka.election import elect

LISTS = st.lists(
    st.sampled_from(("range", "sticky", "cooperative-sticky", "acme")),
    unique=True,
    min_size=1,
    max_size=4,
).map(tuple)


def _seen(stages):
    return [(s.first, s.last, s.elected, s.members, s.refused) for s in stages]


def test_the_old_strategy_holds_until_the_last_member_lists_the_new_one():
    """Half way through, too."""
    stages = rolling([("range",)] * 4, ("sticky", "range"))

    assert _seen(stages) == [(1, 3, "range", 4, 0), (4, 4, "sticky", 4, 0)]


def test_dropping_the_old_strategy_changes_nothing_that_is_elected():
    """The first restarted member leaves only the new one in common."""
    stages = rolling([("range", "sticky")] * 3, ("sticky",))

    assert _seen(stages) == [(1, 3, "sticky", 3, 0)]


def test_putting_a_listed_strategy_first_wins_with_the_majority():
    """With two of four it is a tie, which sticky wins by its hash."""
    stages = rolling([("range", "sticky")] * 4, ("sticky", "range"))

    assert _seen(stages) == [(1, 1, "range", 4, 0), (2, 4, "sticky", 4, 0)]


def test_in_one_step_all_but_the_last_stay_out():
    """The last one finds the group empty."""
    stages = rolling([("range",)] * 3, ("sticky",))

    assert _seen(stages) == [(1, 2, "range", 1, 2), (3, 3, "sticky", 1, 2)]


def test_a_static_member_is_refused_for_its_own_old_list():
    """It does not leave, so even the last one finds a group, its own."""
    stages = rolling([("range",)] * 2, ("sticky",), static=[True, True])

    assert _seen(stages) == [(1, 1, "range", 1, 1), (2, 2, None, 0, 2)]


def test_a_member_alone_can_take_any_list():
    """It leaves the group empty behind it."""
    assert _seen(rolling([("range",)], ("sticky",))) == [(1, 1, "sticky", 1, 0)]


@given(st.lists(LISTS, min_size=1, max_size=5), LISTS)
def test_each_stage_is_what_the_election_says_of_the_members_then(before, after):
    """Held again from scratch for every number of restarted members, unless somebody is refused."""
    stages = rolling(before, after)
    if stages[-1].refused or len(elect(dict(enumerate_names(before))).lists) < len(before):
        return
    for restarted in range(1, len(before) + 1):
        now = [after] * restarted + before[restarted:]
        stage = next(s for s in stages if s.first <= restarted <= s.last)
        assert stage.elected == elect(dict(enumerate_names(now))).elected


def enumerate_names(lists):
    """Members in an order that the coordinator walks as it stands."""
    return [(f"m{place}", listed) for place, listed in enumerate(lists)]
