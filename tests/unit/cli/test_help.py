"""What `--help` teaches, and the command that the message of an incident ends with: each is accepted as it stands."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.cli import app, verbs
from evenkeel.engine.cli.command_end import EXIT_CODES
from evenkeel.engine.cli.verbs import VERBS
from evenkeel.engine.messages.incident_message import next_command
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.made_tables import ROOT
from tests.unit.cli.conftest import Run

ORDER = """
    lag top advise tasks report serve query rebalances mcp runbook whatif readiness elect explain diff plan
    alerts silence ack snapshot recording backtest backfill ledger assign check-assignor doctor admin
"""
COMMANDS = tuple(ORDER.split())
FAMILIES = {
    "snapshot": ("take", "record"),
    "recording": ("show", "unpack"),
    "admin": ("migrate", "maintain", "compile", "pack"),
}
LINES = tuple(
    words
    for verb in COMMANDS
    for words in ([(verb, own) for own in FAMILIES[verb]] if verb in FAMILIES else [(verb,)])
)
"""Every verb that does something, with the verb before it."""


def examples(text: str) -> list[str]:
    """The command lines of a help text, without comments."""
    return re.findall(r"^ {4}((?:EVENKEEL_\w+=\S+ |echo .*\| )?evenkeel .*)", text, re.MULTILINE)


def arguments(example: str) -> list[str]:
    """What the shell would hand to `evenkeel`."""
    own = example[example.rindex("evenkeel ") :] if "| evenkeel" in example else example
    words = shlex.split(own, comments=True)
    words = words[words.index("evenkeel") + 1 :]
    ends = [i for i, word in enumerate(words) if word in ("|", "<", ">")]
    return words[: ends[0]] if ends else words


def accepted(example: str) -> bool:
    """Whether a command line can be read, to its last option."""
    command = get_command(app)
    verb, *rest = arguments(example)
    if verb in FAMILIES:
        command = command.get_command(None, verb)
        verb, *rest = rest
    return command.get_command(None, verb).make_context(verb, rest) is not None


def test_the_commands_are_the_documented_ones(run):
    """All verbs, in the order in which help lists them."""
    assert tuple(get_command(app).list_commands(None)) == COMMANDS
    assert re.findall(r"^  ([a-z][a-z-]+)  +[A-Z]", run("--help").stdout, re.MULTILINE) == [
        *COMMANDS
    ]
    for verb, own in FAMILIES.items():
        shown = run(verb)
        assert (shown.exit_code, shown.stdout) == (0, run(verb, "--help").stdout)
        assert tuple(re.findall(r"^  ([a-z]+)  +[A-Z]", shown.stdout, re.MULTILINE)) == own


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_the_table_of_verbs_says_what_each_verb_says_itself(run, words):
    """Help at the top reads the table alone, so that it loads no verb."""
    table = verbs.FAMILIES.get(words[0], VERBS)
    assert verbs.command(words[-1]).help == table[words[-1]]


def test_the_files_beside_the_table_are_the_verbs():
    """Whoever looks for a verb finds the file of its name, and no other."""
    files = {file.stem for file in Path(verbs.__file__).parent.glob("*.py")}
    assert files - {"__init__"} == {words[-1].replace("-", "_") for words in LINES}


def test_help_at_the_top_says_what_a_verb_does_to_the_end(run):
    """No sentence is cut off, however narrow the terminal."""
    shown = " ".join(run("--help", terminal_width=80).stdout.split())
    assert all(what in shown for what in VERBS.values())


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_every_command_teaches_by_example_and_names_its_exit_codes(run, words):
    """Two to four real command lines, and every exit code with its meaning as everywhere."""
    result = run(*words, "--help")
    assert result.exit_code == 0
    assert 2 <= len(examples(result.stdout)) <= 4
    codes = re.findall(r"^ +(\d+)  (.+)$", result.stdout.split("Exit codes:")[1], re.MULTILINE)
    assert codes
    assert {int(code): told for code, told in codes}.items() <= EXIT_CODES.items()


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_every_example_is_accepted_as_it_stands(run, words):
    """An example with an option that is gone would be a lie."""
    assert all(map(accepted, examples(run(*words, "--help").stdout)))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["migrate", "--dry-run"], "admin migrate"),
        (["unpack", "rec"], "recording unpack"),
        (["admin", "migrat"], "admin migrate"),
        (["unsilence", "7"], "silence"),
        (["advice"], "advise"),
    ],
)
def test_a_verb_that_there_is_not_has_the_one_that_is_meant(run, typed, meant):
    """Also where that is a verb of another."""
    result = run(*typed)
    assert result.exit_code == 2
    assert result.stderr.endswith(f"Did you mean `evenkeel {meant}`?\n")


def test_help_at_the_top_shows_three_tasks_that_are_accepted(run):
    """The three most common tasks stand where people look first, and so do all exit codes."""
    text = run("--help").stdout
    tasks = examples(text)
    assert len(tasks) == 3
    assert all(map(accepted, tasks))
    assert all(f"{code}  {told}" in text for code, told in EXIT_CODES.items())


def test_without_arguments_it_shows_the_help(run):
    """Who types the bare name wants to know what there is."""
    assert run().stdout == run("--help").stdout
    assert run().exit_code == 0


def test_it_prints_the_version_of_the_project(run):
    """As pyproject.toml has it, and no more."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = tomllib.loads(text)["project"]["version"]

    assert run("--version").stdout == f"evenkeel {version}\n"


def test_a_wide_terminal_is_not_exceeded(run):
    """Nothing in a help is wider than 100 columns but a whole example line."""
    for words in LINES:
        lines = run(*words, "--help").stdout.splitlines()
        assert all(len(line) <= 100 for line in lines if not examples(line)), words


ODD = "bad\x1b[31m[red]name"


@pytest.mark.parametrize(
    "cause", [Diagnosis.NO_MEMBERS, Diagnosis.CATCHING_UP, Diagnosis.REBALANCING]
)
def test_it_shows_the_group(run: Run, kafka, lake, tmp_path, cause: Diagnosis) -> None:
    """
    Live, from the stored snapshots, and compared with when it was well: with the configuration that is there.

    Whatever the group is called.
    """
    config = f'lake = "{lake}"\n[clusters.prod]\nbootstrap = "b:9092"\n'
    (tmp_path / "evenkeel.toml").write_text(config)
    good = FileLake(lake).snapshots("prod", limit=2)[-1]

    program, *arguments = shlex.split(next_command("prod", ODD, cause, good))
    result = run(*arguments)

    assert program == "evenkeel"
    assert result.exit_code == 0, result.output
    text = result.output.replace("\\x1b", "\x1b")
    assert ODD in text
    assert "locked" not in text
