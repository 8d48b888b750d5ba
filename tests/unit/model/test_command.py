"""Commands to copy: whatever a group is called, a shell takes them apart into the words that are meant."""

from __future__ import annotations

import ast
import fnmatch
import html
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.engine.adapters.slack.blocks import body
from evenkeel.engine.assignors.kafka.protocol_names import BY_RACKS
from evenkeel.engine.cli.views.strategy_table import steps_to
from evenkeel.engine.messages.advice_news import new_advice
from evenkeel.engine.messages.digest import told_of
from evenkeel.engine.messages.events import EventKind
from evenkeel.engine.messages.incident_message import message_of, next_command
from evenkeel.engine.messages.wording import how, sentence, words
from evenkeel.engine.model.command import (
    ALTERED,
    CUT,
    LONGEST,
    LONGEST_IN_TEXT,
    command,
    command_in_text,
)
from evenkeel.engine.model.facts import finding, note, step
from evenkeel.engine.model.message import AlertMessage, MessageKind, Section, Severity
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.group_incidents import GOOD, course_of, incident_of, stated
from tests.helpers.outbox import CLUSTER, NOW, advice

MESSAGE = AlertMessage(
    kind=MessageKind.ADVICE, severity=Severity.INFO, at=NOW, title="title", summary="summary."
)


def of_advice(group: str, state: str = "confirmed") -> str:
    """The command of the news about an advice."""
    [news] = new_advice([advice(group, state)], {}, NOW, lambda _: NOW - NOW)
    return told_of(CLUSTER, news).sections[-1].code[0]


def of_retention(topic: str) -> str:
    """The command that raises the retention of a topic that loses records."""
    kept = stated("retention_ms", [topic], after=86_400_000)
    course = course_of(Diagnosis.DATA_LOSS)
    course = replace(course, causes=(replace(course.causes[0], facts=(kept,)),))
    incident = incident_of(Diagnosis.DATA_LOSS, kafka="--bootstrap-server broker1:9092")
    return message_of(replace(incident, course=course), EventKind.OPENED).sections[-1].code[0]


COMMANDS: Mapping[str, Callable[[str], str]] = {
    **{
        f"incident, {cause}": lambda group, cause=cause: next_command("eu", group, cause, GOOD)
        for cause in Diagnosis
        if cause is not Diagnosis.UNKNOWN
    },
    "advice": of_advice,
    "retention": of_retention,
    "steps to a strategy": lambda group: steps_to("sticky", group),
    "steps to a listed strategy": lambda name: steps_to(name, "orders"),
    "runbook, compare": lambda group: command("evenkeel advise --group {}", group),
    "elect": lambda group: command("evenkeel elect --group {} --to STRATEGY", group),
}
"""Each place that shows a command on a line of its own."""

CLAUSES: Mapping[str, Callable[[str], str]] = {
    "follow plan": lambda group: how((step("follow_plan", ["balanced", group], after=0, bound=3),)),
    "bring to brokers": lambda group: how((step("bring_to_brokers", [BY_RACKS, group]),)),
    "needs plan follower": lambda group: how((step("needs_plan_follower", [group]),)),
    "lost racks": lambda group: words(finding("lost_rack_awareness", [group], before=1.0, after=0)),
    "streams group configs": lambda group: words(note("streams_group_configs", [group])),
    "without plans": lambda group: words(note("without_plans", ["sticky", group])),
    "without plans of a strategy": lambda name: words(note("without_plans", [name, "orders"])),
}
"""Each sentence with a command in it."""

NAMES = st.one_of(
    st.text(max_size=12),
    st.text(alphabet="-=a `'\"$(*?[]&<>;\n\u202e\x1b~#!\\{}|é", max_size=20),
    st.text(alphabet="a b`*", min_size=50, max_size=400),
)


def through_slack(code: str, *, brief: bool) -> str:
    """A command as Slack shows it: its block, the escapes of markup undone."""
    lines = () if brief else ("Why: lag.",)
    section = Section(heading="Next", lines=lines, code=(code,))
    message = replace(MESSAGE, sections=(section,))
    text = "\n".join(
        block["text"]["text"]
        for block in body(message, "k")["blocks"]
        if block["type"] == "section"
    )
    fence = "`" if brief else "```"
    [shown] = re.findall(f"{fence}(.*?){fence}", text, re.DOTALL)
    return html.unescape(shown)


def selects(word: str, name: str) -> bool:
    """Whether a word means a name: as it is, or as a pattern where a part is replaced."""
    return (
        word == name
        or (len(name) > LONGEST_IN_TEXT and word == "NAME")
        or (fnmatch.fnmatchcase(name, word))
    )


def meant(words: list[str], plain: list[str], name: str) -> bool:
    """Whether words are those of a *plain* name, but with another name in its place."""
    said = [re.escape(word).replace("plain", "(.*)") for word in plain]
    if name.startswith("-") and len(words) != len(plain) + ("--" not in plain):
        # an option and its value became one word
        joined = " ".join(said)
        said = re.sub(r"(\\-\\-[a-z\\-]+) \(\.\*\)", r"\1=(.*)", joined).split(" ")
    elif name.startswith("-") and "--" not in plain:
        said = [*(word for word in said if word != "(.*)"), r"\-\-", "(.*)"]
    if len(words) != len(said):
        return False
    found = [re.fullmatch(one, word, re.DOTALL) for one, word in zip(said, words, strict=True)]
    return all(found) and all(selects(part, name) for one in found if one for part in one.groups())


@pytest.mark.parametrize("place", COMMANDS)
@given(name=NAMES)
@example(name="it's `$(touch x)`; \x1b[31m\n--help")
@example(name="-x && rm <a>")
@example(name="=ls")
@example(name="x" * (LONGEST + 1))
def test_a_command_is_split_into_the_words_that_are_meant(place: str, name: str) -> None:
    """Through Slack, too: nothing of a name is an option, a word of its own, or run."""
    made = COMMANDS[place]
    for brief in (False, True):
        shown = through_slack(made(name), brief=brief)
        assert shown == made(name)
        assert shown.isprintable()
        assert "`" not in shown
        split = shlex.split(shown, comments=True)
        assert meant(split, shlex.split(made("plain")), name), shown
        assert (CUT in shown or ALTERED in shown) or len(name) <= LONGEST


@pytest.mark.parametrize("place", CLAUSES)
@given(name=NAMES)
@example(name="it's `$(touch x)`; \x1b[31m\n--help")
@example(name="2026-03-01 02:40 UTC *x* ```")
@example(name="-x && rm <a>")
def test_a_command_in_a_sentence_is_split_into_the_words_that_are_meant(
    place: str, name: str
) -> None:
    """Slack's escapes, bold text and moments in it change nothing of it."""
    said = CLAUSES[place]
    message = replace(MESSAGE, action=sentence(said(name)))
    section = body(message, "k")["blocks"][1]["text"]["text"]
    shown, plain = (
        re.findall("`(.*?)`", html.unescape(section)),
        re.findall("`(.*?)`", said("plain")),
    )
    assert len(shown) == len(plain) == 1
    assert meant(shlex.split(shown[0]), shlex.split(plain[0]), name), shown


def test_a_name_within_a_sentence_is_cut_where_it_is_too_long() -> None:
    """The command of its own has all of it."""
    assert command_in_text("evenkeel tasks --group {}", "x" * LONGEST_IN_TEXT).endswith("xx")
    assert command_in_text("evenkeel tasks --group {}", "x" * 61) == "evenkeel tasks --group NAME"


def test_the_middle_of_a_long_name_is_a_pattern_and_said_so() -> None:
    """Names often differ at an end."""
    name = "head-" + "x" * LONGEST + "-tail"
    word, *_ = shlex.split(command("evenkeel tasks --group {}", name))[3:]
    assert fnmatch.fnmatchcase(name, word)
    assert len(word) == LONGEST
    assert command("kafka-topics.sh --topic {}", name).endswith("this tool needs all of it")


ROOT = Path(__file__).parents[3]
COMMAND = re.compile(r"(?:evenkeel [a-z]+|kafka-[a-z-]+\.sh)\b[^`.;]*$")
OURS = {
    ("engine/adapters/lake/catalog.py", "SCHEMA_VERSION"),
    ("engine/cli/questions.py", "showing[0]"),
    ("engine/cli/verbs/ack.py", "number"),
    ("engine/cli/verbs/backfill.py", "given"),
    ("engine/cli/verbs/silence.py", "number"),
    ("engine/messages/incident_message.py", "command(what, kept.subjects[0])"),
    ("engine/messages/incident_message.py", "command(what, topic, partition)"),
    ("engine/messages/incident_message.py", "kafka"),
    ("engine/messages/silence_messages.py", "number"),
    ("engine/messages/wording/troubles.py", "fact.quote"),
    ("engine/pipeline/rollout.py", "StickyTasks.SERVER"),
}
"""Numbers, names of queries and what the configuration says: no names of strangers (the quote is in no command)."""


def test_no_name_gets_into_a_command_by_another_way() -> None:
    """What is put into one by an f-string is ours, and whoever has a template of one formats it by `command`."""
    found, formatted = set(), set()
    for path in (ROOT / "engine").rglob("*.py"):
        place, tree = str(path.relative_to(ROOT)), ast.parse(path.read_text())
        nodes = [*ast.walk(tree)]
        for node in nodes:
            before = ""
            for part in node.values if isinstance(node, ast.JoinedStr) else ():
                if isinstance(part, ast.Constant):
                    before += part.value
                elif COMMAND.search(before):
                    found.add((place, ast.unparse(part.value)))
        texts = [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
        if any(re.match("evenkeel [a-z].*{}", text) for text in texts):
            formatted |= {
                (place, ast.unparse(node))
                for node in nodes
                if isinstance(node, ast.Attribute) and node.attr == "format"
            }
    assert found == OURS
    assert formatted == {("engine/cli/views/scoreboard.py", "further.format")}
