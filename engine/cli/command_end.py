"""
How a command ends: what it says on standard error, and its exit code.

An expected error is its message and fix on one line; anything else is named in one line too, because a traceback
helps nobody at three in the morning. `EVENKEEL_DEBUG=1` shows it.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperGroup

from ..model.environment import DOING
from ..model.errors import EvenkeelError, InputError
from ..model.extras import missing
from ..model.logs import PRINTABLE, printable_error
from ..model.text import printable
from .verbs import FAMILIES, GROUPS, PATHS, SHOWN, VERBS, command

EXIT_CODES = {
    0: "done",
    1: "nothing found, or a check failed",
    2: "usage, configuration or input is wrong",
    3: "Kafka did not answer, or not as it should",
    4: "the lake or a file of it cannot be used",
    5: "the history database cannot be used",
    6: "Slack could not be reached",
    130: "interrupted",
}
"""What each exit code of the command means."""

CLOSED_PIPE = 141
"""As a program that SIGPIPE ended; whoever closed the pipe does not look."""

_CLICK_ERROR: type[Exception] = typer.BadParameter.__mro__[2]
"""The base of what typer says about usage; its module is another in every version."""


class NothingFound(EvenkeelError):
    """Nothing matches."""

    exit_code = 1


class VerbGroup(TyperGroup):
    """
    Verbs, each loaded when it is asked for; every way they can end passes here.

    Args:
        family: The verb whose own verbs they are; without it, those at the top.
        given: As typer.
    """

    def __init__(self, *, family: str | None = None, **given: Any) -> None:
        super().__init__(**given)
        self.table = FAMILIES[family] if family else VERBS

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in their order; none is loaded for it."""
        return list(self.table)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of that name, loaded; None when there is none."""
        if cmd_name not in self.table:
            return None
        if cmd_name in FAMILIES and self.table is VERBS:
            return VerbGroup(
                family=cmd_name,
                name=cmd_name,
                help=VERBS[cmd_name],
                rich_markup_mode=None,
                context_settings=SHOWN,
            )
        return command(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each verb does, in full, without loading it."""
        width = max(map(len, self.table))
        for title, verbs in (GROUPS if self.table is VERBS else {"Commands": self.table}).items():
            with formatter.section(title):
                formatter.write_dl([(verb.ljust(width), what) for verb, what in verbs.items()])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Who types a bare name wants to know what there is."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """
        The verb that is asked for.

        Raises:
            InputError: There is none of that name; the message has the one that is meant, wherever it is.
        """
        near = get_close_matches(args[0], PATHS, 1)
        if ctx.resilient_parsing or not near or args[0] in self.table:
            return super().resolve_command(ctx, args)
        raise InputError(
            f"no such command {args[0]!r}.", fix=f"Did you mean `evenkeel {PATHS[near[0]]}`?"
        )

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *_: Any,
        standalone_mode: bool = True,
        **more: Any,
    ) -> Any:
        """
        Run the command line and leave with its exit code.

        Args:
            args: Arguments without the program's name; without them those of the process.
            prog_name: What help calls the program.
            _: Nobody gives more by position.
            standalone_mode: As typer; False lets errors through to the caller.
            more: As typer.
        """
        given = list(sys.argv[1:] if args is None else args)

        DOING.set(" ".join(given[: 2 if given and given[0] in FAMILIES else 1]))

        def run() -> Any:
            name = prog_name or "evenkeel"
            return super(VerbGroup, self).main(given, name, standalone_mode=False, **more)

        if not standalone_mode:
            return run()
        _prepare_streams()
        sys.exit(_ended(run))

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command; typer would end a closed pipe with exit code 1, as if something had failed."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise typer.Exit(_closed_pipe()) from None


def _ended(run: Any) -> int:
    """Run; the exit code, after saying what went wrong."""
    try:
        code = run()
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        return _closed_pipe()
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as cause:  # noqa: BLE001
        for line in _traceback(cause) if debugging() else explain(cause):
            complain(line)
        return exit_code(missing(cause) or cause)


def _closed_pipe() -> int:
    """The exit code; what is still to be written goes nowhere, or Python complains when it flushes at exit."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 it lives as long as the process
    return CLOSED_PIPE


def exit_code(problem: Exception) -> int:
    """The exit code of a failure."""
    known = isinstance(problem, EvenkeelError | _CLICK_ERROR)
    return int(getattr(problem, "exit_code", 1)) if known else 1


def explain(problem: Exception) -> list[str]:
    """What a user reads of a failure: one to a few lines."""
    problem = missing(problem) or problem
    if isinstance(problem, EvenkeelError):
        return [f"evenkeel: {problem}"]
    if isinstance(problem, _CLICK_ERROR):
        context = getattr(problem, "ctx", None)
        message = problem.format_message()  # type: ignore[attr-defined]
        path = context.command_path if context else "evenkeel"
        options = getattr(getattr(context, "command", None), "params", ())
        takes_groups = any("--group" in option.opts for option in options)
        extra = takes_groups and message.startswith("Got unexpected extra argument")
        how = ["Groups are named with --group."] if extra else []
        return [f"evenkeel: {message}", *how, f"See `{path} --help`."]
    lines = str(problem).strip().splitlines() or [""]
    return [
        f"evenkeel: unexpected {type(problem).__name__}: {lines[0]}",
        "Run with EVENKEEL_DEBUG=1 for the traceback.",
    ]


def _traceback(problem: Exception) -> list[str]:
    """The traceback, whatever a name in it holds."""
    import traceback

    return "".join(traceback.format_exception(printable_error(problem))).splitlines()


def complain(line: str) -> None:
    """A line for people, on standard error, safe to show whatever a name in it holds."""
    print(printable(line), file=sys.stderr, flush=True)


def debugging() -> bool:
    """Whether tracebacks and the libraries' log lines are wanted."""
    return os.environ.get("EVENKEEL_DEBUG", "") not in ("", "0")


def _prepare_streams() -> None:
    """
    Let no library log unless somebody debugs, and a name of any letters be shown.

    Client libraries log each failed attempt; the error that follows says it once. A terminal of another encoding would
    fail on a name it has no letters for.
    """
    import logging

    level = logging.INFO if debugging() else logging.CRITICAL + 1
    logging.basicConfig(level=level, format="%(asctime)s %(name)s %(message)s")
    for handler in logging.root.handlers:
        handler.addFilter(PRINTABLE)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
