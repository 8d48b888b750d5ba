"""`evenkeel mcp`: an agent is told what the verbs print, in the words of the Model Context Protocol's own client."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, Tool

from evenkeel.engine.cli import agent_tools
from evenkeel.engine.cli.agent_tools import DETAILS, LISTED, Snapshots, Tools
from evenkeel.engine.cli.mcp_server import server
from tests.unit.cli.conftest import RECORDED, URL, Run, objects

ASKED = ("list_groups", "explain_group", "forecast", "what_if", "how_to_switch", "readiness")

Ask = Callable[..., CallToolResult]

PLACE = "broken_assignors.py:Nothing"


def client(snapshots: Snapshots | StdioServerParameters) -> Client:
    """A client of a server in this process, or of one that it starts."""
    return Client(server(snapshots) if isinstance(snapshots, Snapshots) else snapshots)


def asked(of: Snapshots | StdioServerParameters, tool: str, **given: Any) -> CallToolResult:
    """The answer of a tool."""

    async def ask() -> CallToolResult:
        async with client(of) as one:
            return await one.call_tool(tool, given)

    return asyncio.run(ask())


def listed(of: Snapshots | StdioServerParameters) -> list[Tool]:
    """The tools that there are."""

    async def ask() -> list[Tool]:
        async with client(of) as one:
            return (await one.list_tools()).tools

    return asyncio.run(ask())


def rows(answer: CallToolResult) -> list[dict[str, Any]]:
    """The objects of an answer; its text has the same, one per line."""
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    found = answer.structured_content["rows"]
    assert [json.loads(line) for line in text(answer).splitlines()] == found
    return list(found)


def text(answer: CallToolResult, place: int = 0) -> str:
    """One of the texts of an answer."""
    return str(getattr(answer.content[place], "text"))  # noqa: B009 other content has none


@pytest.fixture
def ask(run: Run, recording: Path) -> Ask:
    """Ask a tool about a recording of seven groups."""
    snapshots = Snapshots(None, None, str(recording))
    return lambda tool, **given: asked(snapshots, tool, **given)


@pytest.fixture(scope="session")
def recorded() -> Ask:
    """Ask a tool about the recording of the demo."""
    snapshots = Snapshots(None, None, str(RECORDED))
    return lambda tool, **given: asked(snapshots, tool, **given)


def printed(told: Run, *words: str) -> list[dict[str, Any]]:
    """What a verb prints of the recording of the demo with `--json`."""
    return objects(told(*words, "--from", RECORDED, "--json"))


@pytest.mark.slow
def test_groups_are_listed_with_the_worst_first(recorded: Ask, told: Run, run: Run) -> None:
    """Each with the values of `advise`, in the order of its table."""
    found = rows(recorded("list_groups"))
    of = {row["group"]: row for row in printed(told, "advise")}
    assert found == [{key: of[row["group"]][key] for key in LISTED} for row in found]
    table = run("advise", "--from", RECORDED, "--all", env={"COLUMNS": "160"}).stdout
    first, *others = [row["group"] for row in found]
    names = [line.split(" ")[0] for line in table.splitlines()]
    assert first == "empty-with-commits"  # which the table cuts
    assert others == [name for name in names if name in of]


@pytest.mark.slow
def test_a_group_is_explained_as_advise_does(recorded: Ask, told: Run) -> None:
    """With details all of it, what to do included; without, all but long lists."""
    assert rows(recorded("explain_group", group="skewed-load", details=True)) == (
        whole := printed(told, "advise", "--group", "skewed-load")
    )
    [brief] = rows(recorded("explain_group", group="skewed-load"))
    assert brief.items() <= whole[0].items()
    assert whole[0].keys() - brief.keys() <= {*DETAILS}
    assert len(json.dumps(brief)) < 5_000
    assert brief["action"]


@pytest.mark.slow
def test_a_forecast_is_that_of_each_strategy(recorded: Ask, told: Run) -> None:
    """The current assignment first; with details also strategies that are not available."""
    [of] = printed(told, "advise", "--group", "skewed-load")
    every = rows(recorded("forecast", group="skewed-load", details=True))
    assert every == [{"group": "skewed-load", **row} for row in of["strategies"]]
    brief = rows(recorded("forecast", group="skewed-load"))
    assert brief[0]["strategy"] == "live"
    assert all(any(row.items() <= whole.items() for whole in every) for row in brief)
    assert brief[0]["forecast_lag_expected"] > brief[0]["forecast_soon_lag_expected"] > 5000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "options"),
    [
        (
            {"group": "skewed-load", "members": ["+2"], "partitions": ["visits=12"]},
            ["--members", "+2", "--partitions", "visits=12"],
        ),
        (
            {"group": "racks-*", "without_rack": ["rack-a"], "strategies": ["sticky", "uniform"]},
            ["--without-rack", "rack-a", "--strategy", "sticky", "--strategy", "uniform"],
        ),
        (
            {"group": "streams-classic", "settings": ["num.standby.replicas=0"]},
            ["--set", "num.standby.replicas=0"],
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_if_answers_as_the_verb(
    recorded: Ask, told: Run, given: dict[str, Any], options: list[str]
) -> None:
    """The same objects; without details all but long lists, and a number of such a name stays."""
    whole = printed(told, "whatif", "--group", given["group"], *options)
    assert rows(recorded("what_if", **given, details=True)) == whole
    brief = rows(recorded("what_if", **given))
    assert all(row.items() <= all_of.items() for row, all_of in zip(brief, whole, strict=True))
    assert all("moves" in row and "moved" not in row for row in brief)


@pytest.mark.slow
def test_how_to_switch_is_the_runbook(recorded: Ask, told: Run) -> None:
    """To a named strategy."""
    steps = rows(recorded("how_to_switch", group="skewed-load", strategy="sticky"))
    assert steps == printed(told, "runbook", "--group", "skewed-load", "--strategy", "sticky")


def test_readiness_is_told_as_the_verb_tells_it(recorded: Ask, told: Run) -> None:
    """In the order in which groups should move; the last ones are left out, and facts without details."""
    whole = printed(told, "readiness")
    assert rows(recorded("readiness", details=True)) == whole
    answer = recorded("readiness", limit=2)
    assert rows(answer) == [
        {key: value for key, value in row.items() if key != "facts"} for row in whole[:2]
    ]
    assert f"left out: the last {len(whole) - 2} groups" in text(answer, 1)


@pytest.mark.slow
def test_a_client_talks_to_the_command_itself(tmp_path: Path) -> None:
    """Over standard input and output, of which nothing else has a line."""
    command = Path(sys.executable).with_name("evenkeel")
    of = StdioServerParameters(
        command=str(command), args=["mcp", "--from", str(RECORDED)], cwd=tmp_path
    )

    async def both() -> tuple[list[str], CallToolResult]:
        async with client(of) as one:
            tools = (await one.list_tools()).tools
            return [each.name for each in tools], await one.call_tool("list_groups", {"limit": 1})

    names, answer = asyncio.run(both())
    assert tuple(names) == ASKED
    assert [row["group"] for row in rows(answer)] == ["empty-with-commits"]


@pytest.mark.slow
def test_an_interrupt_ends_it(tmp_path: Path) -> None:
    """At once, although a thread of it waits for a client."""
    command = Path(sys.executable).with_name("evenkeel")
    with subprocess.Popen(
        [command, "mcp", "--from", RECORDED], stdin=PIPE, stdout=PIPE, cwd=tmp_path
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT


def test_history_is_told_as_query_tells_it(ask: Ask, run: Run, history: Any) -> None:
    """All queries, and the rows of one; numbers of parameters may be numbers."""
    assert rows(ask("history")) == objects(run("query", "--json"))
    answer = ask("history", name="worst_groups", parameters={"cluster": "prod", "limit": 3})
    words = ("--param", "cluster=prod", "--param", "limit=3", "--json")
    assert rows(answer) == objects(run("query", "worst_groups", *words))
    assert history.asked[0] == history.asked[1]
    assert "hunter2" not in answer.model_dump_json()


def test_what_is_said_beside_the_answer_is_its_second_text(ask: Ask) -> None:
    """Which snapshots were looked at, what could not be read, and how many groups were left out."""
    said = text(ask("list_groups", limit=2), 1)
    assert "cluster prod at 2026-03-01 " in said
    assert "from 4 snapshots" in said
    assert "group locked could not be read: not authorized: DESCRIBE" in said
    assert said.endswith("left out: the last 5 groups; raise limit.")


@pytest.mark.parametrize(
    ("tool", "given", "words"),
    [
        ("explain_group", {"group": "unevn"}, ["advise", "--group", "unevn"]),
        (
            *("what_if", {"group": "uneven", "members": ["2"]}),
            ["whatif", "--group", "uneven", "--members", "2"],
        ),
        ("how_to_switch", {"group": "fine"}, ["runbook", "--group", "fine"]),
    ],
)
def test_an_error_is_that_of_the_command_line(
    ask: Ask, run: Run, recording: Path, tool: str, given: dict[str, Any], words: list[str]
) -> None:
    """Word by word, as an error of the tool."""
    answer = ask(tool, **given)
    assert answer.is_error
    assert text(answer).endswith(run(*words, "--from", recording).stderr.splitlines()[-1])


@pytest.mark.parametrize(
    ("tool", "given"),
    [("what_if", {"strategies": [PLACE]}), ("how_to_switch", {"strategy": PLACE})],
)
def test_no_code_is_run_that_an_agent_names(ask: Ask, tool: str, given: dict[str, Any]) -> None:
    """A strategy is named by its name."""
    answer = ask(tool, group="uneven", **given)
    assert answer.is_error
    assert "agents run no code. Give a name." in text(answer)


def test_an_unknown_argument_is_refused(ask: Ask) -> None:
    """An answer without it would look like one with it."""
    answer = ask("what_if", group="uneven", member=["+2"])
    assert answer.is_error
    assert "member" in text(answer)


def test_an_unexpected_error_tells_the_agent_nothing(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It may hold anything; whoever started the server reads it on standard error."""

    def fails(*_: Any) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(agent_tools, "judge", fails)
    answer = ask("list_groups")
    assert (answer.is_error, text(answer)) == (True, "Error executing tool list_groups")
    assert "unexpected RuntimeError: password=hunter2" in capfd.readouterr().err


def test_a_database_that_is_down_is_told_without_its_password(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an error with the fix."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", URL.replace("db.example.com:5433", "127.0.0.1:1"))
    answer = ask("history", name="groups")
    assert answer.is_error
    assert "127.0.0.1" in text(answer)
    assert "hunter2" not in text(answer)


def test_every_tool_is_read_only_and_described(run: Run, recording: Path, history: Any) -> None:
    """With each of its parameters."""
    tools = listed(Snapshots(None, None, str(recording)))
    assert tuple(each.name for each in tools) == (*ASKED, "history")
    for each in tools:
        assert each.annotations is not None
        assert each.annotations.read_only_hint
        assert each.description
        assert all(one["description"] for one in each.input_schema["properties"].values())


def test_without_a_history_there_is_no_tool_for_it(run: Run, recording: Path) -> None:
    """An agent sees what it can ask."""
    assert tuple(each.name for each in listed(Snapshots(None, None, str(recording)))) == ASKED


def test_a_live_cluster_is_read_anew_unless_its_snapshot_is_fresh(
    run: Run, kafka: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first question takes several snapshots, a later one another; nothing is read before."""
    snapshots = Snapshots("broker1:9092", None, None, samples=3, every=5)
    assert "cluster" not in kafka
    first = snapshots.now()
    assert snapshots.now() is first
    assert len(first.ids(9)) == 3
    monkeypatch.setattr(agent_tools, "FRESH", -1.0)
    second = snapshots.now()
    assert second.ids(9)[:3] == first.ids(9)
    assert second.newest > first.newest
    assert kafka["cluster"].closed
    [uneven] = Tools(snapshots).explain_group("uneven")
    assert uneven["snapshot_id"] > second.newest


def test_snapshots_that_no_question_looks_back_to_are_let_go(
    run: Run, kafka: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the server runs, it keeps no more of them."""
    monkeypatch.setattr(agent_tools, "FRESH", -1.0)
    monkeypatch.setattr(agent_tools, "REMEMBERED", 0)
    snapshots = Snapshots("broker1:9092", None, None, samples=1)
    kept = [len(snapshots.now().ids(9)) for _ in range(3)]
    assert kept == [1, 1, 1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--bootstrap", "b:1", "--from", "x"], "--bootstrap and --from exclude each other."),
        (["--from", "nothing.recording"], "nothing.recording"),
        ([], "no cluster is given"),
        (["--bootstrap", "b:port"], "--bootstrap: "),
    ],
)
def test_what_cannot_be_asked_about_is_told_at_the_start(
    run: Run, words: list[str], told: str
) -> None:
    """Before any client waits for an answer."""
    result = run("mcp", *words)
    assert result.exit_code in (2, 4)
    assert (result.stdout, len(result.stderr.splitlines())) == ("", 1)
    assert told in result.stderr
