"""The messages about groups: short, complete, nothing twice, and a command that works as it is copied."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.adapters.slack.blocks import body
from evenkeel.engine.cli import app
from evenkeel.engine.cli.patterns import matching
from evenkeel.engine.messages.events import EventKind
from evenkeel.engine.messages.incident_message import Incident, line_of, message_of
from evenkeel.engine.messages.length import plain_text
from evenkeel.engine.messages.wording.incidents import called
from evenkeel.engine.model.facts import Fact, FactKind, fact, note
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity, severity_of
from evenkeel.engine.model.states import Diagnosis, IncidentState
from tests.helpers.group_incidents import (
    BEGAN,
    FACTS,
    GOOD,
    LAG,
    NOW,
    incident_of,
    readers_of,
    span_of,
    stated,
)
from tests.stage.slack_workspace import check_content

OPENED, WORSE, STILL, RESOLVED = (
    EventKind.OPENED,
    EventKind.WORSE,
    EventKind.STILL,
    EventKind.RESOLVED,
)

LONGEST = 1_500
"""Characters of one incident as plain text."""

MANY = (
    Diagnosis.NO_MEMBERS,
    Diagnosis.DATA_LOSS,
    Diagnosis.GROUP_NOT_COMMITTING,
    Diagnosis.CATCHING_UP,
    Diagnosis.UNDER_PROVISIONED,
)


def commands(message: AlertMessage) -> list[str]:
    """What the message has to be copied."""
    return [line for section in message.sections for line in section.code]


def parsed(command: str) -> Any:
    """A command line as our own parser takes it, down to its last argument; nothing is run."""
    program, *arguments = shlex.split(command)
    assert program == "evenkeel"
    group: Any = typer.main.get_command(app)
    with group.make_context("evenkeel", list(arguments)) as context:
        name, verb, rest = group.resolve_command(context, arguments)
        return verb.make_context(name, rest, parent=context)


def all_messages(incident: Incident) -> Iterator[AlertMessage]:
    """Every message that there can be about an incident."""
    for kind in (OPENED, WORSE, STILL, RESOLVED):
        yield message_of(incident, kind)
        yield line_of(incident, kind)


@pytest.mark.parametrize("cause", list(FACTS))
def test_every_cause_has_its_words(cause: Diagnosis) -> None:
    """What, since when, what changed, what to do with one command, and whose it is: of each cause, on a phone."""
    message = message_of(incident_of(cause), OPENED)
    text = plain_text(message)
    assert (message.kind, message.severity) == (MessageKind.INCIDENT_OPENED, severity_of(cause))
    assert message.title.startswith("orders-app (prod): ")
    assert len(message.title) <= 80
    assert "Since: 2026-03-01 02:40:00 UTC (25 min)" in text
    assert "Changed: orders-1, orders-2, orders-3 left; partitions added to orders, 6 -> 12" in text
    assert len(commands(message)) == 1
    assert "Owner: payments" in text
    assert text.endswith("-- run: https://airflow.example.com/dags/snapshot_offsets/runs/1")
    assert len(text.split("What to do")[0].splitlines()) <= 10
    assert len(text) <= LONGEST


@pytest.mark.parametrize("cause", list(FACTS))
def test_a_cause_of_which_nothing_is_known_has_its_words(cause: Diagnosis) -> None:
    """Without facts and amount it is called by its name, and what changed is said to be unknown."""
    bare = {"causes": (span_of(cause, facts=(), amount=None),), "good_snapshot_id": None}
    message = message_of(
        incident_of(cause, course=bare, changed=None, owner=None, link=None), OPENED
    )
    assert message.title == f"orders-app (prod): {called(cause)}"
    assert "Changed: Not known: no snapshot is left in which it was well." in plain_text(message)
    assert parsed(commands(message)[0])


@pytest.mark.parametrize("cause", list(FACTS))
def test_how_bad_it_is_is_never_taken_for_what_is_wrong(cause: Diagnosis) -> None:
    """Where only the lag is known, the cause goes by its name."""
    bare = {"causes": (span_of(cause, facts=(LAG,), amount=None),)}
    message = message_of(incident_of(cause, course=bare), OPENED)
    assert message.title == f"orders-app (prod): {called(cause)}"
    assert "How bad: 1,854,000 offsets to read." in plain_text(message)


def of(cause: Diagnosis, *facts: Fact, **columns: Any) -> Incident:
    """An incident of a cause with facts of its own."""
    return incident_of(cause, course={"causes": (span_of(cause, facts=facts),)}, **columns)


def few(now: int, needed: int, most: int) -> Incident:
    """Too few members."""
    cause = Diagnosis.UNDER_PROVISIONED
    return of(cause, stated("under_provisioned", before=now, after=needed, bound=most))


EARLIER = (span_of(Diagnosis.NO_MEMBERS, missed=1), span_of(Diagnosis.OFFSETS_SKIPPED))
UNSEEN = tuple(replace(span, missed=1) for span in EARLIER)
BEFORE = readers_of(Diagnosis.CATCHING_UP, 600)
FORMERLY = {"causes": (span_of(Diagnosis.CATCHING_UP),), "cause": Diagnosis.NO_MEMBERS}

SAID = {
    "nothing changed": (
        incident_of(Diagnosis.CATCHING_UP, changed=()),
        ["Changed: Nothing that a snapshot shows."],
    ),
    "other causes, the two worst with their numbers": (
        incident_of(*MANY),
        [
            "Also: Data loss: retention removed 1,600,000 offsets it had not read",
            "Also: Group not committing: none of its 3 members has committed anything for 13 min",
            "Also: Catching up, under-provisioned.",
            "How bad: 1,854,000 offsets to read.",
        ],
    ),
    "what the newest snapshot does not show": (
        incident_of(Diagnosis.OFFSETS_SKIPPED, course={"causes": EARLIER}),
        ["Earlier: No members."],
        ["Also", "obody consumes"],
    ),
    "a newest snapshot that shows nothing": (
        incident_of(Diagnosis.OFFSETS_SKIPPED, course={"causes": UNSEEN}),
        ["Also: No members: nobody consumes its 12 partitions"],
    ),
    "what was worse before, by what is there now": (
        incident_of(Diagnosis.NO_MEMBERS, course=FORMERLY),
        ["orders-app (prod): 25 min behind", "Earlier: No members."],
    ),
    "why it is behind is acted upon": (
        incident_of(Diagnosis.CATCHING_UP, Diagnosis.UNDER_PROVISIONED),
        ["orders-app (prod): 25 min behind", "What to do: Start 2 more members."],
    ),
    "who came and went is compared": (
        incident_of(Diagnosis.CATCHING_UP, Diagnosis.REBALANCING),
        [
            "What to do: Look for members that come and go",
            f"evenkeel diff --cluster prod --since {GOOD} -- ",
        ],
    ),
    "as many members as partitions keep busy": (
        few(3, 9, 4),
        ["Start 1 more member. Its 4 partitions keep no more busy: add partitions,"],
    ),
    "no more members than partitions": (
        few(4, 9, 4),
        ["do: Its 4 partitions keep no more busy: add partitions, or make members faster."],
    ),
    "several are counted": (
        of(
            Diagnosis.MEMBER_NOT_COMMITTING,
            stated("member_not_committing", "ab", before=9, after=760, partitions=4),
        ),
        [
            "orders-app (prod): 2 members not committing for 12 min 40 s",
            "a, b have committed nothing for 12 min 40 s, 4 partitions;",
            "Look in the log of 2 members for what",
        ],
    ),
    "where a silent member is": (
        incident_of(Diagnosis.MEMBER_NOT_COMMITTING),
        ["Where: Host 10.0.0.5.\n"],
    ),
    "where a partition stands": (
        incident_of(Diagnosis.STUCK_PARTITION),
        [
            "Where: orders-3 stands at offset 120345, its end is 125400, owned by orders-2 at 10.0.0.5.\n"
        ],
    ),
    "an offset that is unknown, and never 0": (
        of(Diagnosis.STUCK_PARTITION, stated("stuck_at", ["orders-3"], before=float("nan"))),
        ["orders-3 stands at offset unknown, its end is unknown, owned by nobody."],
    ),
    "who was there last": (
        incident_of(Diagnosis.NO_MEMBERS),
        [
            "Last there: orders-1 at 10.0.0.4 (seen 2026-03-01 02:35:00 UTC);"
            " last commit seen 2026-03-01 02:35:00 UTC.\n"
        ],
        ["Worse"],
    ),
    "who was there last of a group that is gone": (
        incident_of(Diagnosis.GROUP_DELETED),
        ["Last there: orders-1 at 10.0.0.4 (seen 2026-03-01 02:35:00 UTC).\n"],
    ),
    "one that was read of in a digest": (
        incident_of(Diagnosis.NO_MEMBERS, course={"readers": replace(BEFORE, in_digest=True)}),
        ["\n\nWorse: It was catching up (10 min behind),"],
    ),
    "what Kafka answered": (
        incident_of(Diagnosis.UNKNOWN),
        [
            "orders-app (prod): unreadable: not authorized to access it\n\n",
            'It could not be read: "not authorized to access it".\n',
        ],
    ),
    "what could not be read of it": (
        of(
            Diagnosis.UNKNOWN,
            stated("partitions_unreadable", ["orders-1", "orders-2"], partitions=2),
        ),
        [
            "orders-app (prod): 2 partitions unreadable\n\n",
            "The end or the commit of 2 partitions could not be read (orders-1, orders-2).\n",
        ],
    ),
    "who knows of it": (
        incident_of(Diagnosis.CATCHING_UP, quiet="acknowledged by ann"),
        ["-- Acknowledged by ann."],
    ),
}
"""Incidents, what their message says, and what it does not."""


@pytest.mark.parametrize("told", SAID.values(), ids=SAID)
def test_its_message_says(told: tuple[Any, ...]) -> None:
    """What is there, what was, where to look and what to do; where somebody is stands on a line of its own."""
    incident, said, *unsaid = told
    message = message_of(incident, OPENED)
    text = plain_text(message)
    assert [each for each in said if each not in text] == []
    assert [each for some in unsaid for each in some if each in text] == []
    assert "10.0.0" not in message.summary


@pytest.mark.parametrize("cause", list(FACTS))
def test_nothing_is_said_twice(cause: Diagnosis) -> None:
    """No line comes again, and what a clause says of how bad it is stands there only."""
    others = [other for other in MANY if other.precedence > cause.precedence]
    course = {"readers": readers_of(Diagnosis.CATCHING_UP, 600)}
    for message in all_messages(incident_of(cause, *others, course=course)):
        lines = [line.strip() for line in plain_text(message).splitlines() if line.strip()]
        assert len(lines) == len(set(lines))
        assert max(len(re.findall(r"1,236 records/s arrive", line)) for line in lines) <= 1
        assert len(plain_text(message)) <= LONGEST


def test_what_got_worse_is_said_with_since_when() -> None:
    """A more severe cause with what it was before, the same cause with how bad it was and is."""
    rose = incident_of(
        Diagnosis.NO_MEMBERS, course={"readers": readers_of(Diagnosis.CATCHING_UP, 600)}
    )
    grew = incident_of(
        Diagnosis.CATCHING_UP, course={"readers": readers_of(Diagnosis.CATCHING_UP, 600)}
    )
    assert line_of(rose, WORSE).summary == (
        "It was catching up (10 min behind), now no members since 2026-03-01 02:40:00 UTC (25 min)."
    )
    assert line_of(grew, STILL).summary == ("Now 25 min behind; 15 min ago 10 min behind.")
    assert f"Worse: {line_of(rose, WORSE).summary}" in plain_text(message_of(rose, WORSE))


def test_only_a_more_severe_cause_calls_again() -> None:
    """Who was called for it once is called again when a warning becomes critical, not when a number grows."""
    rose = incident_of(
        Diagnosis.NO_MEMBERS, course={"readers": readers_of(Diagnosis.CATCHING_UP, 600)}
    )
    grew = incident_of(
        Diagnosis.CATCHING_UP, course={"readers": readers_of(Diagnosis.CATCHING_UP, 600)}
    )
    assert line_of(rose, WORSE).mention == "S012ABCDEF"
    assert line_of(grew, STILL).mention is None
    assert message_of(grew, OPENED).mention == "S012ABCDEF"


def test_the_end_says_what_it_was_and_how_long() -> None:
    """It is over since it was well, which is before that was believed; nobody is called for it."""
    over = {
        "state": IncidentState.RESOLVED,
        "causes": (),
        "readers": readers_of(Diagnosis.NO_MEMBERS, 1236),
        "well_since": NOW - timedelta(minutes=5),
        "closed_at": NOW,
    }
    incident = incident_of(Diagnosis.NO_MEMBERS, course=over)
    message, line = message_of(incident, RESOLVED), line_of(incident, RESOLVED)
    assert {message.severity, line.severity} == {Severity.RESOLVED}
    assert {message.mention, line.mention} == {None}
    assert message.title == "orders-app (prod): well again after 20 min"
    assert message.summary == "It was: no members, 20 min 36 s behind when last told."
    assert line.summary == (
        "In trouble for 20 min, from 2026-03-01 02:40:00 UTC to 2026-03-01 03:00:00 UTC; at worst no members."
    )


def test_the_end_of_what_came_and_went_says_why_it_is_told_only_now() -> None:
    """How soon, and for how long it has stayed well; its opening says that it comes again."""
    comes = {"over_at": BEGAN - timedelta(hours=1)}
    over = {
        **comes,
        "state": IncidentState.RESOLVED,
        "well_since": NOW - timedelta(minutes=45),
        "readers": readers_of(Diagnosis.CATCHING_UP, 600),
    }
    ended = incident_of(Diagnosis.CATCHING_UP, course=over)
    back = "It came back 1 h after it was over;"
    told = f"{back} told now because it has stayed well for 45 min."
    assert f"Again: {told}" in plain_text(message_of(ended, RESOLVED))
    assert line_of(ended, RESOLVED).summary.endswith(told)
    opened = plain_text(message_of(incident_of(Diagnosis.CATCHING_UP, course=comes), OPENED))
    assert f"Again: {back} its end is told once it stays away for longer." in opened
    assert "Again" not in plain_text(message_of(incident_of(Diagnosis.CATCHING_UP), OPENED))


def test_a_group_that_nobody_waits_for_any_more_is_not_called_well() -> None:
    """One that was never seen well again has an end, and that says so."""
    over = {"state": IncidentState.RESOLVED, "well_since": None, "closed_at": NOW}
    incident = incident_of(Diagnosis.GROUP_DELETED, course=over)

    for message in (message_of(incident, RESOLVED), line_of(incident, RESOLVED)):
        assert "not waited for any more" in message.title
        assert "well again" not in f"{message.title} {message.summary}"


def test_a_group_that_settles_close_to_its_objective_is_not_called_well() -> None:
    """It says where it is, and for how long, so that nobody wonders why it is told now."""
    settled = {
        "state": IncidentState.RESOLVED,
        "unseen_since": NOW - timedelta(hours=2),
        "closed_at": NOW - timedelta(hours=2),
    }
    incident = incident_of(Diagnosis.CATCHING_UP, course=settled)

    for message in (message_of(incident, RESOLVED), line_of(incident, RESOLVED)):
        assert "back within its objective" in message.title
        assert "It has been within its objective for 2 h, though close to it." in plain_text(
            message
        )


def test_programs_get_its_subject() -> None:
    """Each message says for receivers that page which incident it is about."""
    for message in all_messages(incident_of(Diagnosis.GROUP_NOT_COMMITTING)):
        subject = message.subject
        assert subject is not None
        assert (subject.key, subject.cluster, subject.group_id, subject.cause) == (
            "prod/orders-app/prod-20260301T024000Z-abc124",
            "prod",
            "orders-app",
            "group not committing",
        )
        assert (subject.owner, subject.began_at) == ("payments", BEGAN)
        assert AlertMessage.from_json(message.to_json()) == message


@pytest.mark.parametrize("cause", list(FACTS))
def test_the_command_is_one_of_ours(cause: Diagnosis) -> None:
    """It parses down to the last argument, and names cluster and group."""
    context = parsed(commands(message_of(incident_of(cause), OPENED))[0])
    named = {str(value) for value in context.params.values()}
    assert "prod" in named
    assert "orders-app" in named or cause is Diagnosis.UNKNOWN


NAMES = st.one_of(
    st.text(min_size=1, max_size=300),
    st.sampled_from(
        ["<!channel>", "<@U0123ABC>", "$(rm -rf /)", "a'b\"c", "--help", "-", "a`b`", "x\ny", "*[a]?", "~", "a  b"]
    ),
)  # fmt: skip


@given(group=NAMES, cause=st.sampled_from([*FACTS]), member=NAMES, topic=NAMES, owner=NAMES)
def test_odd_names_do_no_harm(
    group: str, cause: Diagnosis, member: str, topic: str, owner: str
) -> None:
    """Whatever things are called: it fits, mentions nobody, and its command means the group."""
    changed = (note("members_left", [member] * 25), note("topic_gone", [topic]))
    facts = (fact(FactKind.DIAGNOSIS, "stuck_partition", [topic] * 5, after=5, partitions=5),)
    course = {
        "causes": (span_of(cause), span_of(Diagnosis.STUCK_PARTITION, facts=facts)),
        "readers": readers_of(Diagnosis.CATCHING_UP, 600),
    }
    incident = incident_of(cause, group=group, course=course, changed=changed, owner=owner)
    for message in all_messages(incident):
        text = plain_text(message)
        assert len(text) <= LONGEST
        assert text.replace("\n", "").isprintable()
        posted = body(message, "k")
        check_content(posted)
        marked = "".join(
            part["text"]
            for block in posted["blocks"][1:]
            for part in block.get("elements") or [block["text"]]
        )
        calls = re.findall("<[^>]*>", marked)
        assert set(calls) <= {f"<{incident.link}|run>", "<!subteam^S012ABCDEF>"}
    command = commands(message_of(incident, OPENED))[0]
    assert f"{command}" in body(message_of(incident, OPENED), "k")["blocks"][1]["text"][
        "text"
    ].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    meant = parsed(command).params.get("group")
    assert meant is None or matching(str(meant), [group, "another"]) == [group]
