"""`evenkeel backfill`: past snapshots judged again by another configuration or version, beside what was said then."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from ...model.command import command
from ...model.text import and_more, listed, printable, several
from ..command_end import complain
from ..options import Group, epilog, option

if TYPE_CHECKING:
    from ...pipeline.backfill import BackfillOutcome, BackfillPlan, Progress

EPILOG = epilog(
    [
        "evenkeel backfill --cluster eu --from 2026-11-01 --to 2026-11-15",
        "evenkeel backfill --cluster eu --from 2026-11-15 --to 2026-11-15 --group 'orders-*' --candidates-every none",
        "evenkeel backfill --cluster eu --from 2026-11-01 --to 2026-11-15 --dry-run",
        "evenkeel query backfill_changes --param cluster=eu",
    ],
    [0, 2, 3, 4, 5],
    "Recomputes metrics, candidates and advice of these days from the lake, with the current configuration and "
    "version, and with what was known at that time. Results go into a separate schema with the same tables and views, "
    "named by configuration and version. The history database stays unchanged, and nothing is posted.",
    "You can stop it at any time. With the same options it continues and skips what is done. The DAG backfill_history "
    "does the same in short runs.",
)

MOST_GROUPS = 6
"""Groups that the summary names."""


def backfill(
    cluster: Annotated[str, option("--cluster NAME", "A cluster of evenkeel.toml.")],
    first: Annotated[str, option("--from DAY", "First day (UTC), or a timestamp.")],
    last: Annotated[str, option("--to DAY", "Last day (UTC, inclusive), or a timestamp.")],
    group: Group = "*",
    candidates_every: Annotated[
        str,
        option(
            "--candidates-every SPAN|none",
            "Replay all strategies on one snapshot per interval. This takes most of the time.",
        ),
    ] = "1h",
    dry_run: Annotated[
        bool, option("--dry-run", "Print what would be done, and change nothing.")
    ] = False,
) -> None:
    """Re-evaluate past snapshots with the current configuration."""
    from ... import wiring
    from ...pipeline.backfill import backfill as step
    from ...pipeline.backfill import outcome_of, planned, question, rules_of
    from ..database import database

    wanted = question(cluster, first, last, groups=group, candidates_every=candidates_every)
    settings, where = database()
    complain(f"database: {where}")
    lake, shelf = wiring.lake(settings), wiring.shelf(settings, rules_of(settings, group))
    plan = planned(lake, shelf, settings, wanted)
    for line in _ahead(plan):
        complain(line)
    if dry_run:
        print("nothing was done")
        return
    with _progress() as tell:
        step(lake, shelf, settings, wanted, tell=tell)
    outcome = outcome_of(lake, wiring.history(settings), plan)
    print(_summary(plan, outcome))
    if groups := _named(outcome):
        print(groups)
        known = {"cluster": cluster, "rules": plan.rules}
        known |= {"since": _iso(wanted.since), "until": _iso(wanted.until)}
        given = " ".join(f"--param {name}={{}}" for name in known)
        differing = command(f"evenkeel query backfill_changes {given}", *known.values())
        print(f"all that differs: {differing}")


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def _ahead(plan: BackfillPlan) -> Iterator[str]:
    from ...pipeline.backfill import EVENKEEL

    asked = plan.question
    yield (
        f"{asked.cluster}: {several(len(plan.left), 'snapshot')} to judge by configuration {plan.config_version}"
        f" and evenkeel {EVENKEEL}, groups {printable(asked.groups)}"
    )
    yield f"candidates of {several(len(plan.proposed & {*plan.left}), 'snapshot')} of these"
    yield f"in schema {plan.rules}"
    if plan.done:
        yield f"{plan.done:,} of {len(plan.ids):,} were done before: it goes on with the others"
    if plan.missing_days:
        yield f"the lake has no snapshot of {listed(plan.missing_days)}"


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Shows how far it is: a bar on a terminal, elsewhere a line now and then."""
    if not sys.stderr.isatty():
        from ...messages.wording import duration, moment

        def line(progress: Progress) -> None:
            rest = (
                f", about {duration(progress.left_seconds)} left"
                if progress.of > progress.done
                else ""
            )
            done = f"{progress.done:,} of {progress.of:,} snapshots"
            complain(f"{done}, through {moment(progress.at)}{rest}")

        yield line
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("judging", total=None)
        yield lambda progress: bar.update(
            task,
            description=f"through {progress.at:%Y-%m-%d %H:%M}",
            total=progress.of,
            completed=progress.done,
        )


def _summary(plan: BackfillPlan, outcome: BackfillOutcome) -> str:
    judged = several(len(plan.ids), "snapshot")
    if not outcome.groups:
        return f"{judged} evaluated: none has a group {printable(plan.question.groups)} that could be evaluated"
    if not outcome.differing:
        return (
            f"{judged} evaluated: of {several(outcome.groups, 'group')} none has different results"
        )
    return (
        f"{judged} evaluated: {outcome.differing:,} of {several(outcome.groups, 'group')}"
        " have different results"
    )


def _named(outcome: BackfillOutcome) -> str:
    """A line for each of the groups of which most would have been said otherwise."""
    from ...messages.wording import duration

    lines: dict[str, list[str]] = {}
    for each in outcome.changes:
        hours = each["hours"]
        for_ = f" for {duration(float(str(hours)) * 3600)}" if hours else ""
        times = f" in {each['snapshots']} snapshots" if not hours else ""
        then, now = each["then_was"] or "nothing won", each["now_is"] or "nothing wins"
        own = lines.setdefault(str(each["group_id"]), [])
        own.append(f"{then} -> {now}{for_}{times}")
    shown = [f"{printable(group)}: {'; '.join(own)}" for group, own in lines.items()]
    rest = len(shown) - MOST_GROUPS
    return "\n".join([*shown[:MOST_GROUPS], *filter(None, [and_more(rest)])])
