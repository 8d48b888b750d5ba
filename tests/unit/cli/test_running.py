"""How commands end: exit codes, and one line instead of a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evenkeel.engine import wiring
from evenkeel.engine.cli import app
from evenkeel.engine.cli.command_end import EXIT_CODES, exit_code
from evenkeel.engine.model.errors import (
    ClusterUnreachable,
    EvenkeelError,
    HistoryUnreachable,
    InputError,
    LakeError,
    NotifierError,
)
from tests.helpers.snapshots import group, make_snapshot, topic

ROOT = Path(__file__).parents[3]


def failing(problem):
    """A function that raises."""

    def fail(*_, **__):
        raise problem

    return fail


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (EvenkeelError("x"), 1),
        (InputError("x"), 2),
        (ClusterUnreachable("x"), 3),
        (LakeError("x"), 4),
        (HistoryUnreachable("x"), 5),
        (NotifierError("x"), 6),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError("x"), 1),
    ],
)
def test_every_kind_of_failure_has_its_documented_exit_code(run, monkeypatch, problem, code):
    """Whatever a command raises, its exit code says what was at fault; Ctrl-C leaves nothing on the screen."""
    monkeypatch.setattr(wiring, "recorded", failing(problem))
    result = run("lag", "--from", "x")
    assert result.exit_code == code
    assert code in EXIT_CODES
    assert not (result.output if code == 130 else result.stdout)


def test_who_names_a_group_as_an_argument_reads_how_it_is_named(run):
    """Where groups are an option."""
    assert "Groups are named with --group." in run("lag", "orders-app").stderr
    assert "--group." not in run("admin", "migrate", "orders-app").stderr


def test_an_expected_error_is_one_line_with_its_fix(run, monkeypatch):
    """Message and fix, on standard error, nothing else."""
    monkeypatch.setattr(wiring, "recorded", failing(InputError("it is broken.", fix="Mend it.")))
    result = run("lag", "--from", "x")
    assert result.stderr == "evenkeel: it is broken. Mend it.\n"


def test_an_unexpected_error_is_named_without_a_traceback(run, monkeypatch):
    """Type and message in one line, and how to see more."""
    monkeypatch.setattr(wiring, "recorded", failing(RuntimeError("first\nsecond")))
    result = run("lag", "--from", "x")
    assert result.stderr.splitlines() == [
        "evenkeel: unexpected RuntimeError: first",
        "Run with EVENKEEL_DEBUG=1 for the traceback.",
    ]


def test_debugging_shows_the_traceback(run, monkeypatch):
    """EVENKEEL_DEBUG=1 shows where an error arose, and its names as text; the exit code stays."""
    monkeypatch.setenv("EVENKEEL_DEBUG", "1")
    monkeypatch.setattr(wiring, "recorded", failing(InputError("odd.", fix="b\x1b[31m\nFATAL")))
    result = run("lag", "--from", "x")
    assert result.exit_code == 2
    first, *_, last = result.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert last == "evenkeel.engine.model.errors.InputError: odd. b\\x1b[31m FATAL"
    monkeypatch.setattr(wiring, "recorded", failing(RuntimeError("b\x1b[31m\nFATAL")))
    assert run("lag", "--from", "x").stderr.splitlines()[-2:] == [
        "RuntimeError: b\\x1b[31m",
        "  | FATAL",
    ]


def test_a_wrong_configuration_is_named_by_key(run, tmp_path, recording):
    """The key and the file, exit code 2."""
    (tmp_path / "evenkeel.toml").write_text("lookback = 'many'\n")
    result = run("advise", "--from", recording)
    assert result.exit_code == 2
    assert "in evenkeel.toml: line 1, lookback:" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_garbage_as_a_recording_is_one_line(run, tmp_path):
    """A file that is something else is refused in words."""
    (tmp_path / "garbage").write_bytes(b"\x00\xff" * 500)
    result = run("advise", "--from", "garbage")
    assert result.exit_code == 4
    assert result.stderr.splitlines() == [result.stderr.strip()]
    assert "garbage" in result.stderr


@pytest.mark.slow
def test_a_closed_pipe_is_quiet():
    """`evenkeel ... | head` ends without complaint."""
    code = "from evenkeel.engine.cli import main; main()"
    lines = b'{"id": 1}\n' * 20000
    with subprocess.Popen(
        [sys.executable, "-c", code, "assign"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines[:1000])
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        _, complaints = process.communicate(lines)
    assert process.returncode == 141
    assert complaints == b""


def test_a_terminal_of_another_encoding_is_enough(run, kept):
    """A name in letters the terminal does not have is shown by its codes."""
    named = group("größe", members=1, lag={"t": 1})
    kept(make_snapshot(topics=[topic("t")], groups=[named]))
    said = CliRunner(charset="ascii").invoke(app, ["lag", "--from", "lake"])
    assert said.exit_code == 0
    assert "gr\\xf6\\xdfe: unknown" in said.stdout


def test_an_exit_code_of_a_stranger_is_not_believed():
    """Only our errors and typer's carry exit codes."""
    stranger = ValueError("x")
    stranger.exit_code = 0  # type: ignore[attr-defined]
    assert exit_code(stranger) == 1
