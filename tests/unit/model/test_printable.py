"""Names of strangers on each surface: no terminal escape, no second line, no bidi sign, no formula."""

from __future__ import annotations

import ast
import contextlib
import csv
import io
import json
import logging
import re
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.engine.adapters.log import LogNotifier
from evenkeel.engine.adapters.slack.blocks import body
from evenkeel.engine.cli.views.tables import Table, emit_csv, plain, show, tell
from evenkeel.engine.model.errors import EvenkeelError
from evenkeel.engine.model.logs import logger
from evenkeel.engine.model.message import AlertMessage, MessageKind, Section, Severity

NAMES = st.one_of(
    st.text(max_size=30),
    st.text(alphabet="=+-@\t\r\n\x1b\u202e\u2066\x00\x9b[31m<!>&`%sa", max_size=20),
)


def message_about(name: str) -> AlertMessage:
    """A message with a name in each of its parts."""
    return AlertMessage(
        kind=MessageKind.INCIDENT_OPENED,
        severity=Severity.WARNING,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        title=name,
        summary=name,
        action=name or None,
        sections=(Section(heading=name, lines=(name,)), Section(heading="", code=(name,))),
        more=name,
        footer=(name,),
    )


@given(name=NAMES)
@example(name="\x1b[31m\nOK")
def test_a_table_shows_a_name_on_its_line(name: str) -> None:
    """Whatever made the cell, and in the sentences beside it."""
    rows = [(name, "1"), ("b", "2")]
    assert all(line.isprintable() for line in plain(Table(headings=["G", "N"], rows=rows)))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        show([Table(headings=["G", "N"], rows=rows, title=name)], wide=True, legend=False)
        tell([name])
    assert all(line.isprintable() for line in out.getvalue().split("\n"))
    assert out.getvalue().count("\n") == 5 - (not name)


@given(name=NAMES)
@example(name="=HYPERLINK(1)")
@example(name="\t=1")
def test_a_cell_of_csv_is_printable_and_no_formula(name: str) -> None:
    """A spreadsheet shows the name; only `raw` cells are as they are."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        emit_csv([{"group": name, "lag": -5}])
    [row] = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert row["group"].isprintable()
    assert not row["group"].startswith(("=", "+", "-", "@"))
    assert row["lag"] == "-5"
    whole = io.StringIO()
    with contextlib.redirect_stdout(whole):
        emit_csv([{"group": name}], raw=True)
    assert name in whole.getvalue().replace('""', '"')


@given(name=NAMES)
@example(name="a\u202eb\n")
def test_slack_shows_a_name_as_text(name: str) -> None:
    """No control or bidi sign reaches a message, in blocks or in the fallback."""
    posted = body(message_about(name), "k")
    texts = re.findall(r'"text": ("(?:[^"\\]|\\.)*")', json.dumps(posted))
    assert texts
    for text in map(json.loads, texts):
        assert all(line.isprintable() for line in text.split("\n"))


@given(name=NAMES)
@example(name="a\nFATAL forged %s")
def test_a_log_line_stays_one_line(name: str) -> None:
    """A name, an error that quotes one, and a message that is only logged."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    root = logging.getLogger("evenkeel")
    root.addHandler(handler)
    try:
        told = logger("evenkeel.tests.printable")
        told.error("group %s of %r: %s", name, name, ValueError(name))
        LogNotifier().send(message_about(name), channel=name, key="k")
    finally:
        root.removeHandler(handler)
    lines = out.getvalue().split("\n")
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("FATAL") for line in lines)


@given(name=NAMES)
def test_an_error_shows_a_name_as_text(name: str) -> None:
    """Airflow logs it as it is."""
    error = EvenkeelError(f"group {name} is odd.", fix=f"See {name}.")
    assert str(error).isprintable()


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """An error with a traceback of its own."""
    try:
        raise error from cause
    except BaseException as problem:  # noqa: BLE001
        return problem


class _Silent(ValueError):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise KeyError("silent")


@given(name=NAMES)
@example(name="a\n2026-03-01 FATAL forged\x1b[31m")
def test_a_traceback_shows_names_as_text(name: str) -> None:
    """In the error, its notes, causes in a circle and the parts of a group; the frames are there."""
    first = raised(ValueError(f"x{name}"))
    error = raised(KeyError(f"x{name}"), raised(OSError(5, f"x{name}"), first))
    first.__context__ = error
    error.add_note(f"x{name}")
    group = raised(ExceptionGroup(f"x{name}", [error, _Silent(), SyntaxError(f"x{name}")]))
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    told = logger("evenkeel.tests.printable")
    told.addHandler(handler)
    try:
        told.error("%s", {"group": name}, exc_info=group)
        told.error("%(group)s", {"group": name})
    finally:
        told.removeHandler(handler)
    lines = out.getvalue().split("\n")
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith(("FATAL", "2026")) for line in lines)
    for shown in (
        "ExceptionGroup: x",
        "KeyError: ",
        "OSError: [Errno 5]",
        "in raised",
        "a _Silent",
    ):
        assert shown in out.getvalue()


ROOT = Path(__file__).parents[3]
LOGGERS = {
    ("engine/model/logs.py", "name"),
    ("engine/followers/kafka_python.py", "'evenkeel.followers'"),
    ("engine/adapters/kafka/connection.py", "'kafka'"),
    ("engine/adapters/kafka/connection.py", "name"),
    ("engine/adapters/prometheus/otlp.py", "'opentelemetry.exporter.otlp'"),
    ("engine/adapters/webhook/http_call.py", "'httpx'"),
    ("expectations/__init__.py", "'great_expectations'"),
}
"""The maker of printable loggers, the follower's own, and those of libraries, which are told to be quiet."""

LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}


def test_every_logger_is_a_printable_one() -> None:
    """No module of ours logs by another."""
    found = set()
    for room in ("engine", "dags", "spark_tasks", "expectations", "sql"):
        for path in (ROOT / room).rglob("*.py"):
            place = str(path.relative_to(ROOT))
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call):
                    continue
                called = ast.unparse(node.func)
                if called.endswith("getLogger"):
                    found.add((place, ", ".join(map(ast.unparse, node.args))))
                assert called not in {f"logging.{level}" for level in LEVELS}, place
    assert found == LOGGERS
