"""
The verbs of `evenkeel`: one file each, named after its last word, with a function of that name and an `EPILOG`.

A verb is imported when it or its help is asked for. What only its work needs it imports when it works, so that help and
shell completion answer at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import cast

import typer
from typer.core import TyperCommand
from typer.main import get_command

GROUPS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Check groups": {
            "lag": "Show the lag of every partition and its owner.",
            "top": "Watch groups live, worst first.",
            "advise": "Diagnose groups and recommend an assignment strategy.",
            "tasks": "Show the tasks of a Kafka Streams application under each strategy.",
            "report": "Write an HTML report of groups over time.",
            "serve": "Serve lag, diagnoses and forecasts as Prometheus metrics.",
            "query": "Query the history database by name.",
            "rebalances": "Show why groups rebalanced, the cost, and the settings that reduce it.",
            "mcp": "Answer agents over the Model Context Protocol.",
        },
        "Plan a change": {
            "runbook": "Print the steps, checks and rollback for switching a group to a strategy.",
            "whatif": "Forecast a group with other members, partitions, racks or capacities.",
            "readiness": "Show which groups can move to the consumer protocol (KIP-848).",
            "elect": "Show which strategy a group elects, and the restarts that lead to another.",
            "explain": "Explain why a strategy assigns a partition to its member.",
            "diff": "Compare a group between two stored snapshots.",
            "plan": "Write an assignment plan for members that follow one.",
        },
        "Handle alerts": {
            "alerts": "Preview the messages that evenkeel would send.",
            "silence": "Silence alerts of groups for a while, or end a silence.",
            "ack": "Acknowledge the open incidents of groups.",
        },
        "Record and re-evaluate": {
            "snapshot": "Take or record snapshots of a cluster.",
            "recording": "Show or unpack a recording.",
            "backtest": "Compare past diagnoses, forecasts and advice with what happened.",
            "backfill": "Re-evaluate past snapshots with the current configuration.",
            "ledger": "Score past advice by its outcome, and verify that it is unchanged.",
        },
        "Develop a strategy": {
            "assign": "Assign partitions for cases read from standard input (JSON lines).",
            "check-assignor": "Test a custom strategy on random groups.",
        },
        "Operate evenkeel": {
            "doctor": "Check configuration, connections, permissions and versions.",
            "admin": "Migrate the history database, run maintenance, prepare Spark workers.",
        },
    }
)
"""Every verb and what it does, by what a user wants, in the order in which help lists them."""

VERBS: Mapping[str, str] = MappingProxyType(
    {verb: what for verbs in GROUPS.values() for verb, what in verbs.items()}
)
"""Every verb and what it does."""

FAMILIES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "snapshot": {
            "take": "Store one snapshot of a cluster in a lake folder.",
            "record": "Write live or stored snapshots to a recording (one file).",
        },
        "recording": {
            "show": "List the snapshots of a recording.",
            "unpack": "Copy the snapshots of a recording into a lake folder.",
        },
        "admin": {
            "migrate": "Migrate the history database to the schema of this version.",
            "maintain": "Roll up and expire history, and compact the lake.",
            "compile": "Compile the loops for large groups ahead of the first run.",
            "pack": "Pack the Python environment for the workers of a Spark cluster.",
        },
    }
)
"""The verbs that have verbs of their own: `evenkeel admin migrate`."""


PATHS: Mapping[str, str] = MappingProxyType(
    {
        **{own: f"{verb} {own}" for verb, family in FAMILIES.items() for own in family},
        **{verb: verb for verb in VERBS},
    }
)
"""The last word of each command line, and all its words after `evenkeel`."""


SHOWN = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""How every help is asked for and shown."""


@cache
def command(verb: str) -> TyperCommand:
    """The command of the file of that name."""
    name = verb.replace("-", "_")
    module = import_module(f"{__name__}.{name}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(verb, epilog=module.EPILOG, context_settings=SHOWN)(getattr(module, name))
    return cast(TyperCommand, get_command(app))
