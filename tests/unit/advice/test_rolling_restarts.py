"""The way from one strategy to another, restart by restart."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.advice.rolling_restarts import in_short, plan, plan_server, rolling
from evenkeel.engine.assignors.kafka.election import REFUSED, elect
from evenkeel.engine.assignors.kafka.protocol_names import CLIENT_SIDE, java_class
from evenkeel.engine.messages.wording import how
from evenkeel.engine.model.errors import InputError
from tests.helpers.facts import how_of, said, told

STOCK = [name for name, known in CLIENT_SIDE.items() if known.stock]
JAVA = "org.apache.kafka.clients.consumer."


LISTS = st.lists(
    st.sampled_from(("range", "sticky", "cooperative-sticky", "acme")),
    unique=True,
    min_size=1,
    max_size=4,
).map(tuple)


def _short(target, present, lists):
    return how(in_short(target, present, tuple(lists))) or ""


def _elected(step):
    return [(stage.first, stage.last, stage.elected) for stage in step.stages]


@pytest.mark.parametrize(("present", "target"), list(itertools.permutations(STOCK, 2)))
def test_between_any_two_stock_settings_nobody_is_ever_refused(present, target):
    """After the last needed restart the group elects the target, and in every stage it elects one of the two."""
    way = plan(target, present, [(present,)] * 5)

    lists = [(present,)] * 5
    for step in way.steps:
        assert all(stage.refused == 0 for stage in rolling(lists, step.lists))
        assert {stage.elected for stage in step.stages} <= {present, target}
        lists = [step.lists] * 5
    needed = [step for step in way.steps if step.needed]
    assert needed[-1].stages[-1].elected == target
    assert way.restarts == (2 if target == "cooperative-sticky" else 1)
    assert way.steps[0].setting == (
        f"partition.assignment.strategy={java_class(target)},{java_class(present)}"
    )


def test_the_double_bounce_keeps_the_old_strategy_until_all_list_the_new_one():
    """KIP-429: after the first restart all are still eager, after the second they are not."""
    first, second = plan("cooperative-sticky", "range", [("range",)] * 4).steps

    assert first.setting.endswith(f"={JAVA}CooperativeStickyAssignor,{JAVA}RangeAssignor")
    assert _elected(first) == [(1, 3, "range"), (4, 4, "cooperative-sticky")]
    assert first.eager is True
    assert second.setting.endswith(f"={JAVA}CooperativeStickyAssignor")
    assert _elected(second) == [(1, 4, "cooperative-sticky")]
    assert second.eager is False


def test_one_step_is_told_by_whom_it_would_keep_out():
    """The election says it: all but the last are refused; and eager and cooperative members must not meet."""
    wrong = how(plan("cooperative-sticky", "range", [("range",)] * 4).in_one_step)

    assert wrong is not None
    assert f"rejected ({REFUSED})" in wrong
    assert "3 of 4 members are rejected" in wrong
    assert "an eager strategy would reassign partitions" in wrong


def test_between_eager_strategies_nobody_reads_what_another_was_given():
    """Then being refused is all that goes wrong."""
    wrong = how(plan("sticky", "range", [("range",)] * 2).in_one_step)

    assert wrong is not None
    assert "give away" not in wrong


def test_static_members_would_all_stay_out():
    """Their own old list is still in the group when they come back."""
    way = plan("sticky", "range", [("range",)] * 2, [True, True])

    assert "all members are rejected" in (how(way.in_one_step) or "")
    assert any("2 of 2 members are static" in note for note in said(way.notes))


def test_javas_default_list_needs_one_restart_to_become_cooperative():
    """All list cooperative-sticky already: alone, it is elected from the first restarted member on."""
    default = ("range", "cooperative-sticky")
    way = plan("cooperative-sticky", "range", [default] * 3)

    assert [step.lists for step in way.steps] == [("cooperative-sticky",)]
    assert _elected(way.steps[0]) == [(1, 3, "cooperative-sticky")]
    assert way.in_one_step == ()
    assert (
        how_of(way)
        == f"Set partition.assignment.strategy to {JAVA}CooperativeStickyAssignor as the only entry:"
        " one rolling restart."
    )


def test_an_elected_cooperative_strategy_beside_an_eager_one_is_not_there_yet():
    """Such Java members give everything up at each rebalance, until the eager one is dropped."""
    mixed = ("cooperative-sticky", "range")

    assert [s.lists for s in plan("cooperative-sticky", mixed[0], [mixed] * 2).steps] == [mixed[:1]]


def test_a_listed_eager_strategy_goes_first_and_wins_with_the_majority():
    """What else all list stays behind it, so that the way back is one restart, too."""
    way = plan("roundrobin", "range", [("range", "roundrobin", "sticky")] * 3)

    assert [step.lists for step in way.steps] == [("roundrobin", "range", "sticky")]
    assert _elected(way.steps[0]) == [(1, 1, "range"), (2, 3, "roundrobin")]
    assert how_of(way).endswith("one rolling restart; 2 of 3 members suffice.")


def test_between_eager_strategies_the_second_restart_only_tidies_up():
    """The first one elects it."""
    way = plan("sticky", "roundrobin", [("roundrobin",)] * 2)

    assert [step.needed for step in way.steps] == [True, False]
    assert how_of(way).startswith("One rolling restart with partition.assignment.strategy=")
    assert f"a second one with only {JAVA}StickyAssignor removes roundrobin" in how_of(way)


def test_where_it_is_already_nothing_has_to_be_done():
    """No step, no warning, no note."""
    way = plan("RangeAssignor", "range", [("range", "sticky")] * 2)

    assert (way.steps, way.in_one_step, way.notes, way.restarts) == ((), (), (), 0)


@pytest.mark.parametrize(
    ("lists", "why"),
    [
        ([None, ("range",)], "the lists of 1 of 2 members are not known"),
        (
            [("sticky", "range")] * 2,
            "the configured lists elect sticky, but the group runs range",
        ),
        ([("sticky",), ("fair",)], "the configured lists elect nothing"),
    ],
)
def test_without_lists_that_fit_only_what_it_runs_is_relied_on(lists, why):
    """The assumption is reported; the second restart only tidies up, so the short form has one."""
    way = plan("sticky", "range", lists)

    assert (told(way.assumed) or "").startswith(why)
    assert [step.lists for step in way.steps] == [("sticky", "range"), ("sticky",)]
    assert how_of(way).startswith("One rolling restart with ")


def test_javas_default_is_mentioned_where_it_may_spare_a_restart():
    """Only where the lists are not known, and only for what that default lists."""
    hint = "cooperative-sticky alone is enough"

    assert hint in _short("cooperative-sticky", "range", [None] * 2)
    assert hint not in _short("cooperative-sticky", "sticky", [None] * 2)
    assert hint not in _short("cooperative-sticky", "range", [("range",)] * 2)


def test_other_clients_are_told_what_they_cannot_do():
    """librdkafka and kafka-python refuse to mix eager and cooperative; librdkafka has no sticky."""
    assert "reject a list of cooperative-sticky and range" in _short(
        "cooperative-sticky", "range", [None]
    )
    assert "refuse" not in _short("roundrobin", "range", [None])
    assert "librdkafka has no sticky." in _short("sticky", "range", [None])
    [spelled] = [
        n
        for n in said(plan("roundrobin", "range", [("range",)] * 2).notes)
        if "protocol names" in n
    ]
    assert spelled == "librdkafka uses protocol names: roundrobin,range, then roundrobin."
    mixed = said(plan("cooperative-sticky", "range", [("range",)] * 2).notes)
    assert not any("protocol names" in note for note in mixed)


def test_a_class_that_has_to_be_shipped_is_named():
    """Kafka's own client has neither fair nor lag."""
    told_how = _short("lag-aware", "range", [("range",)] * 2)

    assert told_how.startswith(
        "Add io.evenkeel.EvenkeelLagAwareAssignor to the classpath of every member."
    )
    assert told_how.endswith("Only Java clients can load it.")


def test_the_class_behind_an_unknown_name_is_left_to_its_owner():
    """The name on the wire does not tell it, nor how its members rebalance."""
    way = plan("range", "acme", [("acme",)] * 2)
    back = plan("acme", "range", [("range",)] * 2)

    assert way.steps[0].setting.endswith(f"={JAVA}RangeAssignor,<class of acme>")
    assert "Only its owner knows the class of acme." in said(way.notes)
    assert [step.needed for step in back.steps] == [True, True]
    assert back.steps[1].eager is None


@pytest.mark.parametrize("target", ["uniform", "range-server", "stream"])
def test_a_classic_group_cannot_be_sent_to_the_broker(target):
    """Server-side and Streams strategies are nothing that members could list."""
    with pytest.raises(InputError, match=f"cannot list '{target}'"):
        plan(target, "range", [("range",)])


def test_the_short_form_is_the_plans_own():
    """Whether or not elections are held for it."""
    for lists in ([None] * 3, [("range",)] * 3, [("range", "sticky")] * 3):
        assert in_short("sticky", "range", tuple(lists)) == plan("sticky", "range", lists).how


def test_differing_lists_are_restarted_in_their_order():
    """Where somebody lists the new one already, the others are the ones that count."""
    lists = [("range", "sticky"), ("range",), ("range", "sticky")]
    way = plan("sticky", "range", lists)

    assert elect(dict(zip("abc", lists, strict=True))).elected == "range"
    assert _elected(way.steps[0]) == [(1, 1, "range"), (2, 3, "sticky")]
    assert said(way.notes)[-1].startswith("Members have different lists")


def test_the_broker_of_a_kip_848_group_is_asked_by_its_members():
    """One setting, one restart; what others ask for is not on the wire."""
    way = plan_server("range-server", "uniform", 3, classic=1)

    assert [step.setting for step in way.steps] == ["group.remote.assignor=range"]
    assert how_of(way).startswith("Set group.remote.assignor=range on every member")
    assert any(
        note.startswith("1 of 3 members still use the classic protocol") for note in said(way.notes)
    )
    assert plan_server("uniform", "uniform", 3).steps == ()


def test_a_kip_848_group_cannot_be_sent_to_a_leader():
    """It has none."""
    with pytest.raises(InputError, match="does not assign by 'sticky'"):
        plan_server("sticky", "uniform", 3)


@pytest.mark.parametrize(
    ("before", "after", "static", "stages"),
    [
        # the old one holds until the last member lists the new one
        (
            [("range",)] * 4,
            ("sticky", "range"),
            None,
            [(1, 3, "range", 4, 0), (4, 4, "sticky", 4, 0)],
        ),
        # to drop the old one changes nothing that is elected
        ([("range", "sticky")] * 3, ("sticky",), None, [(1, 3, "sticky", 3, 0)]),
        # put first, a listed one wins with the majority; of two of four, sticky by its hash
        (
            [("range", "sticky")] * 4,
            ("sticky", "range"),
            None,
            [(1, 1, "range", 4, 0), (2, 4, "sticky", 4, 0)],
        ),
        # in one step all but the last stay out, which finds the group empty
        ([("range",)] * 3, ("sticky",), None, [(1, 2, "range", 1, 2), (3, 3, "sticky", 1, 2)]),
        # a static one does not leave: even the last finds a group, its own
        ([("range",)] * 2, ("sticky",), [True, True], [(1, 1, "range", 1, 1), (2, 2, None, 0, 2)]),
        # one alone leaves the group empty behind it
        ([("range",)], ("sticky",), None, [(1, 1, "sticky", 1, 0)]),
    ],
)
def test_what_is_elected_while_members_restart(before, after, static, stages):
    """From how many to how many restarted ones, who is in the group then, and how many are refused."""
    found = rolling(before, after, static)

    assert [(s.first, s.last, s.elected, s.members, s.refused) for s in found] == stages


@given(st.lists(LISTS, min_size=1, max_size=5), LISTS)
def test_each_stage_is_what_the_election_says_of_the_members_then(before, after):
    """Held again from scratch for every number of restarted members, unless somebody is refused."""

    def elected(lists):
        # members in an order that the coordinator walks as it stands
        return elect({f"m{place}": listed for place, listed in enumerate(lists)})

    stages = rolling(before, after)
    if stages[-1].refused or len(elected(before).lists) < len(before):
        return
    for restarted in range(1, len(before) + 1):
        stage = next(s for s in stages if s.first <= restarted <= s.last)
        assert stage.elected == elected([after] * restarted + before[restarted:]).elected
