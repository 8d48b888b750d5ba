"""
The server of `evenkeel mcp` (Model Context Protocol): `agent_tools` as its tools, all read-only.

The text of an answer is what `--json` prints, one object per line; what is said on standard error is a second text.
Errors are those of the command line. One question is answered at a time.
"""

from __future__ import annotations

import inspect
import io
import json
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr
from functools import wraps
from threading import Lock
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations

from ..model.environment import this_environment
from ..model.errors import ConfigError, EvenkeelError
from ..model.extras import missing
from .agent_tools import Row, Snapshots, Tools
from .command_end import complain, explain
from .database import database
from .views.tables import to_json

INSTRUCTIONS = """\
evenkeel reads Kafka consumer groups, diagnoses why one is behind, forecasts its lag, and replays every assignment \
strategy on it. It is read-only: it changes nothing in Kafka, and you deploy what it recommends. Start with \
list_groups, then explain_group. Units are in the names: lag is in offsets (records), *_seconds in seconds, \
*_per_second in records per second, *_share a fraction of 1, times are UTC. *_low, *_expected and *_high are the p10, \
p50 and p90 of a forecast; soon is in 15 minutes, otherwise in one hour. null is unknown, "Infinity" is never."""


def server(snapshots: Snapshots) -> MCPServer:
    """
    The server; its tool `history` is there where a history database is configured.

    Args:
        snapshots: What questions are about.
    """
    tools, turn = Tools(snapshots), Lock()
    asked: list[Callable[..., Iterable[Row]]] = [
        tools.list_groups,
        tools.explain_group,
        tools.forecast,
        tools.what_if,
        tools.how_to_switch,
        tools.readiness,
        *([tools.history] if _has_history() else []),
    ]
    return MCPServer(
        "evenkeel",
        instructions=INSTRUCTIONS,
        version=this_environment().version,
        tools=[_tool(ask, turn) for ask in asked],
    )


def _tool(ask: Callable[..., Iterable[Row]], turn: Lock) -> Tool:
    """A question as a tool; one with an unknown argument is refused, not answered without it."""
    tool = Tool.from_function(
        _answering(ask, turn),
        description=inspect.getdoc(ask),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        structured_output=False,
    )
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    return tool.model_copy(update={"parameters": arguments.model_json_schema()})


def _answering(ask: Callable[..., Iterable[Row]], turn: Lock) -> Callable[..., CallToolResult]:
    @wraps(ask)
    def answer(**given: Any) -> CallToolResult:
        said = io.StringIO()
        try:
            with turn, redirect_stderr(said):
                rows = [to_json(row) for row in ask(**given)]
        except Exception as problem:
            if isinstance(problem, EvenkeelError) or missing(problem):
                told = [*said.getvalue().splitlines(), *explain(problem)]
                raise ToolError("\n".join(told)) from None
            # an agent hears which tool failed, and nothing that such an error may hold
            complain(explain(problem)[0])
            raise
        texts = ["\n".join(rows), said.getvalue().strip()]
        return CallToolResult(
            content=[TextContent(text=text) for text in texts if text],
            structured_content={"rows": [json.loads(row) for row in rows]},
        )

    return answer


def _has_history() -> bool:
    try:
        database()
    except ConfigError:
        return False
    return True
