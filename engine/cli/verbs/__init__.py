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

VERBS: Mapping[str, str] = MappingProxyType(
    {
        "snapshot": "Keep what a cluster is like now: in a lake folder, or as a recording in one file.",
        "lag": "Show the lag of every partition of every group, with its owner.",
        "diff": "Show what changed for one group between two stored snapshots.",
        "advise": "Say for each group whether another assignment strategy pays, and why.",
        "tasks": "Show the tasks of a Kafka Streams application: owners, racks and cost, now and under each strategy.",
        "whatif": "Say what would become of a group with other members, partitions, racks or capacities, under each "
        "strategy.",
        "assign": "Answer cases (JSON lines on standard input) with assignments (JSON lines), as they come.",
        "explain": "Say step by step why a partition goes to the member it goes to under a strategy.",
        "elect": "Say which strategy a group elects and why, who is refused and who leads; --to plans the way to "
        "another.",
        "apply": "Print what exactly to do for a group to run a strategy: settings, restarts, what to expect, and "
        "the way back.",
        "plan": "Write a plan: which member of a group shall get which partitions, for members that follow one.",
        "check-assignor": "Hold a custom strategy to its promises on random groups, and show the smallest that it "
        "fails on.",
        "backtest": "Say what would have been diagnosed, forecast and told over many snapshots, and how it came out.",
        "backfill": "Judge past snapshots again after a change of the configuration or of evenkeel, beside what was "
        "said then.",
        "report": "Write one HTML file that shows groups over time: diagnoses, lag, forecasts, members, racks and "
        "advice.",
        "query": "Ask the history a named question.",
        "silence": "Tell nobody for a while what goes wrong with some groups, or end that.",
        "ack": "Say that somebody works on what is open about some groups.",
        "alert": "Print what would be sent and where, and send nothing.",
        "admin": "Look after an installation: its database, its lake, and what it needs compiled and packed.",
        "doctor": "Try configuration, connections, rights and versions, and say the fix for each.",
    }
)
"""Every verb and what it does, in the order in which help lists them."""

FAMILIES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "snapshot": {
            "take": "Take one snapshot of a cluster's groups, offsets and racks into a lake folder.",
            "record": "Write snapshots, taken now or stored, into one small file.",
            "replay": "Tell what a recording holds, or unpack it into a lake folder.",
        },
        "admin": {
            "migrate": "Bring the history database to this version's schema.",
            "upkeep": "Make hours and days of the history, forget what is old, and bring the lake into few files.",
            "compile": "Compile the loops of large groups now, so that no scheduled run has to.",
            "pack": "Pack the environment that a Spark cluster's workers need into one archive.",
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


@cache
def command(verb: str) -> TyperCommand:
    """The command of the file of that name."""
    name = verb.replace("-", "_")
    module = import_module(f"{__name__}.{name}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(verb, epilog=module.EPILOG)(getattr(module, name))
    return cast(TyperCommand, get_command(app))
