"""The output of the demo: groups, messages, four queries, the move to the consumer protocol, and next steps."""

from __future__ import annotations

import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.cli.views.columns import head, table
from evenkeel.engine.cli.views.tables import Table, text
from evenkeel.engine.cli.views.tables import show as show_tables
from evenkeel.engine.messages.wording import duration
from evenkeel.engine.records import columns_of_query
from tests.stage import slack_workspace as slack
from tests.stage.services import Demo
from tests.stage.workload.following import plan_of

QUERIES = (
    ("Which incidents are open now?", "open_incidents", []),
    ("Where is the lag?", "worst_partitions", ["--param", "limit=5"]),
    ("How does each strategy score for a group?", "scoreboard", ["--param", "group={group}"]),
    ("Are snapshots taken, complete and processed?", "snapshot_health", ["--param", "limit=3"]),
)
LOOKED_AT = 200
"""Maximum number of snapshots: some hours, so that some have advice."""

TOLD = "select snapshot_id from step_run where step = 'alert' and outcome = 'ok'"
"""`alert` is the last step."""

RACKS_GROUP = "racks-avoidable"

MOST_MESSAGES = 5
"""Maximum number of messages."""


def snapshots(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The snapshots of the cluster, newest first, and whether all notifications of each are sent."""
    rows = _ask(state, "snapshot_health", cluster=state["name"], limit=LOOKED_AT)
    with psycopg.connect(state["database_url"]) as connection:
        told = {row[0] for row in connection.execute(TOLD)}
    return [row | {"advised": row["snapshot_id"] in told} for row in rows]


def is_fresh(row: dict[str, Any], state: dict[str, Any]) -> bool:
    """Whether a row belongs to this demo, not to an earlier one."""
    return bool(row["started_at"].timestamp() > state["settled_at"] - 1)


def stage(state: dict[str, Any], found: list[dict[str, Any]]) -> str:
    """The current step, and the last failure."""
    fresh = [row for row in found if is_fresh(row, state)]
    waiting = [
        row["snapshot_id"] for row in fresh if not row["advised"] and row["state"] != "superseded"
    ]
    what = f"advice for snapshot {waiting[-1]}" if waiting else "the next snapshot"
    failed = [row for row in _ask(state, "failed_steps", hours=1) if is_fresh(row, state)]
    return what + "".join(f" (step {f['step']} failed, retrying: {f['error']})" for f in failed[:1])


def show(demo: Demo, state: dict[str, Any]) -> None:
    """Print everything."""
    groups = _ask(state, "groups", cluster=state["name"])
    _title(f"Consumer groups{_when(groups)}")
    show_tables([_table(groups)])
    _title("Slack messages")
    print(_message(demo, state))
    shown = next((g["group_id"] for g in groups if g["verdict"] == "switch"), None)
    shown = shown or next((g["group_id"] for g in groups if g["verdict"]), "")
    for question, name, arguments in QUERIES:
        _title(question)
        _run(["query", name, *(argument.format(group=shown) for argument in arguments)])
    _title("Which groups can move to the consumer protocol (KIP-848)?")
    _run(["readiness", "--bootstrap", state["bootstrap"]])
    _title("Age of the data")
    print(pace(state))
    _title("Next steps")
    print(ways(demo, state))


def pace(state: dict[str, Any]) -> str:
    """Age of the newest snapshot and advice, and the time to advice."""
    rows = _ask(state, "advice_age", cluster=state["name"], hours=24)
    now = datetime.now(tz=UTC)
    lines = []
    for what, found in (
        ("newest snapshot", rows),
        ("newest with advice", [row for row in rows if row["state"] == "advised"]),
    ):
        if found:
            age = duration((now - found[0]["started_at"]).total_seconds())
            lines.append(f"{what:<19}{found[0]['snapshot_id']}, {age} old")
    came = [row["advised_after_seconds"] for row in rows if row["state"] == "advised"]
    if came:
        longest = duration(max(came[:10]))
        lines.append(f"{'advice comes':<19}within {longest} after the snapshot (last 10)")
    superseded = sum(row["state"] == "superseded" for row in rows)
    if superseded:
        lines.append(f"{'superseded':<19}{superseded} snapshots: a newer one got advice")
    return "\n".join(lines)


def _when(groups: list[dict[str, Any]]) -> str:
    taken = max((group["taken_at"] for group in groups), default=None)
    if taken is None:
        return ""
    age = duration((datetime.now(tz=UTC) - taken).total_seconds())
    return f" at {taken.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC, {age} ago"


def _title(words: str) -> None:
    print(f"\n== {words} {'=' * (75 - len(words))}\n", flush=True)


_COLUMNS = (
    "group_id",
    "total_lag",
    "lag_skew",
    "cross_rack_share",
    "diagnosis",
    "verdict",
    "reason",
)


def _table(groups: list[dict[str, Any]]) -> Table:
    declared = columns_of_query("groups")
    *columns, advice, reason = (declared[name] for name in _COLUMNS)
    return table(
        [*columns, (head(advice), _advice), (head(reason), _reason)],
        groups,
        apart=True,
    )


def _advice(group: dict[str, Any]) -> str:
    """Verdict with strategy."""
    to = f" to {group['strategy']}" if group["verdict"] == "switch" else ""
    return text(group["verdict"] and group["verdict"] + to)


def _reason(group: dict[str, Any]) -> str:
    told = group["reason"] or group["error"]
    if group["best_undeployable"] is None:
        return text(told)
    return text(
        f"{told}; not deployable here: {group['best_undeployable']} ({group['best_undeployable_reason']})"
    )


def _message(demo: Demo, state: dict[str, Any]) -> str:
    if "slack_base_url" not in state:
        return "See your Slack workspace (EVENKEEL_SLACK_TOKEN is set)."
    messages = slack.read_store(demo.messages)
    if not messages:
        return "No messages yet."
    newest = messages[-MOST_MESSAGES:]
    older = len(messages) - len(newest)
    seen = ["\n".join(f"  | {line}" for line in slack.as_seen(m).splitlines()) for m in newest]
    return "\n\n".join([f"  {older} older messages", *seen] if older else seen)


def _run(arguments: list[str]) -> None:
    command = ["evenkeel", *arguments]
    print(f"$ {' '.join(command)}", flush=True)
    program = Path(sys.executable).with_name("evenkeel")
    subprocess.run([str(program), *command[1:]], check=False, stderr=subprocess.DEVNULL)


def ways(demo: Demo, state: dict[str, Any]) -> str:
    """Addresses and next commands, one per line."""
    watched = "your cluster" if demo.cluster else "the demo's cluster"
    lines = [
        f"Airflow            {state['airflow_url']}",
        f"  login            {state['airflow_user']} / {state['airflow_password']}",
        f"  group pages      {state['airflow_url']}/plugin/evenkeel/evenkeel/",
        f"{watched:<18} {state['bootstrap']}",
        "query the history  .venv/bin/evenkeel query",
        "read the cluster   .venv/bin/evenkeel lag     (or advise, elect, diff, doctor)",
        f"other folders      export EVENKEEL_CONFIG={shlex.quote(str(demo.config))}",
        f"                   export EVENKEEL_DATABASE_URL={shlex.quote(state['database_url'])}",
        '                   evenkeel doctor, or psql "$EVENKEEL_DATABASE_URL"',
        f"read-only login    psql {shlex.quote(state['reader_url'])}     (or as EVENKEEL_DATABASE_URL)",
        f"example queries    EVENKEEL_DATABASE_URL={shlex.quote(state['example_url'])}",
        "                   for the queries of the docs; its groups are simulated",
        *(() if demo.cluster else _home(demo)),
        "stop the demo      make stop",
        "your own cluster   CLUSTER=host:port make demo     (read-only)",
    ]
    return "\n".join(lines)


def _home(demo: Demo) -> tuple[str, ...]:
    """Commands that remove the cross-rack traffic of the demo's racks group."""
    plan = plan_of(demo.workload, RACKS_GROUP)
    write = (
        f"evenkeel plan --group {RACKS_GROUP} --strategy min_traffic --out {shlex.quote(str(plan))}"
    )
    return (
        f"fix rack traffic   .venv/bin/{write}",
        f"                   .venv/bin/python -m tests.stage restart {RACKS_GROUP}",
        "                   then see the result: .venv/bin/evenkeel query advice_events",
    )


def _ask(state: dict[str, Any], name: str, **parameters: Any) -> list[dict[str, Any]]:
    return PostgresHistory(state["database_url"]).query(name, **parameters)
