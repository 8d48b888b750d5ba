"""What `evenkeel whatif` prints of a Kafka Streams application: strategies, instances, and what was assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from ...messages.wording import sentence, several, words
from ...model.columns import columns_of
from ...model.formats import (
    NOTHING,
    UNKNOWN,
    brief,
    change,
    minute,
    number,
    or_unknown,
    percent,
    roughly,
    size,
)
from ...pipeline.whatif import TaskAnswer, TaskOutcome
from ...records import TaskWhatIfRow, row_of, to_json
from ...streams.settings import RackStrategy
from .columns import short, table
from .fleet import in_cluster
from .strategy_table import before_and_after
from .tables import Table, screen_width, tell_answer, tell_legend, tell_list, text

LIVE = "live"


def objects(answer: TaskAnswer) -> Iterator[dict[str, Any]]:
    """One object for the application now, and one per strategy; instances by name."""
    names = answer.names
    assumed, lost = ([words(fact) for fact in facts] for facts in (answer.assumed, answer.lost))
    for one in (answer.today, *answer.outcomes):
        instances: list[dict[str, Any]] = [
            {
                "name": answer.names[process],
                "process_id": process,
                "rack": rack,
                "tasks": count,
                "copies": copies,
                "arrives_per_second": rate,
                "restores": [one.application.app.tasks[n] for n in one.restoring[process]],
                "restore_offsets": one.to_restore(one.restoring[process])[0],
                "restore_bytes": one.to_restore(one.restoring[process])[1],
            }
            for (process, (count, copies, rate)), rack in zip(
                one.loads(answer.rates).items(), _racks(one), strict=True
            )
        ]
        yield {
            "group": answer.group.group,
            **to_json(_row(answer, one)),
            "on": instances,
            "active": {task: owner and names[owner] for task, (owner, *_) in one.has.items()},
            "standby": {
                t: [names[p or ""] for p in each] for t, (_, *each) in one.has.items() if each
            },
            "moved": [
                {"task": task, "from": names[old], "to": answer.names[new]}
                for task, old, new in one.moves
            ],
            "lost": lost if one is not answer.today else [],
            "assumed": assumed if one is not answer.today else [],
        }


def print_answer(answer: TaskAnswer, *, wide: bool = False) -> None:
    """
    Print what becomes of the application with the strategy that it runs, then every strategy, then what was assumed.

    Args:
        answer: It.
        wide: Whether all columns, instances under every strategy and moves are shown.
    """
    width = screen_width()
    [first] = answer.outcomes[:1] or [answer.today]
    tables = [_strategies(answer, wide=wide), _instances(answer, wide=wide)]
    tell_answer(_headline(answer, first), _labelled(answer, first), tables, wide=wide)
    assumed = [*answer.lost, *answer.assumed]
    tell_list("Assumed:", (sentence(words(fact)) for fact in assumed), width)
    moved = [f"{t}: {change(answer.names[a], answer.names[b])}" for t, a, b in first.moves]
    if wide:
        tell_list(f"Moves with {_title(first)}: {several(len(moved), 'task')}", moved, width)
    tell_legend(tables, *([] if wide else _LEGEND), "--json has everything", width=width)


def _headline(answer: TaskAnswer, first: TaskOutcome) -> str:
    name = in_cluster(answer.group.group, answer.group.cluster)
    now, then = (len(one.application.app.clients) for one in (answer.today, first))
    instances = several(then, "instance")
    instances = instances if now == then else change(f"{now:,}", instances)
    return f"What if: {name} with {_title(first)}, {instances}; {minute(answer.group.taken_at)}"


def _labelled(answer: TaskAnswer, first: TaskOutcome) -> list[tuple[str, str | None]]:
    """What becomes of the application with one strategy: why racks play no part, traffic, load, and what moves."""
    now, then = (row_of(_row(answer, one)) for one in (answer.today, first))

    def ends(name: str, form: Callable[[Any], str]) -> str:
        return before_and_after(*(or_unknown(form)(row[name]) for row in (now, then)))

    moves = None
    if then["moves"] is not None:
        moves = f"{then['moves']:,} of {several(then['tasks'], 'task')}"
        if then["restores"]:
            stores = several(then["restores"], "store")
            pause = or_unknown(roughly)(then["restore_seconds"])
            moves += (
                f", {stores} to restore ({brief(then['restore_offsets'])} records, pause {pause})"
            )
    return [
        ("Racks", then["reason"]),
        ("Traffic", f"cross-rack {ends('cross_rack_share', percent)} of source partitions"),
        ("Busiest", f"{ends('busiest_per_second', brief)} records/s"),
        ("Tasks", f"{ends('most_tasks', brief)} at most on one instance"),
        ("Moves", moves),
    ]


def _row(answer: TaskAnswer, one: TaskOutcome) -> TaskWhatIfRow:
    app, placed = one.application.app, one.placed
    per = one.loads(answer.rates).values()
    asked = placed is not None and one.strategy is not None
    known = 0 if placed is None else len(app.source) - int(placed.unknown.sum())
    off = one.refused or (placed.racks_off if placed else None)
    if one.strategy is RackStrategy.NONE and placed:
        off = None  # by its name
    arrives = [rate for _, _, rate in per if rate is not None]
    return TaskWhatIfRow(
        strategy=LIVE if one.strategy is None else one.strategy.value,
        is_running=one.is_running,
        reason=None if off is None else words(off),
        instances=len(app.clients),
        threads=int(app.threads.sum()),
        tasks=len(app.tasks),
        moves=len(one.moves) if asked else None,
        restores=len(one.restored) if asked else None,
        restore_offsets=sum(one.restored) if asked else None,
        restore_seconds=one.restore_seconds if asked else None,
        cross_rack_share=int(placed.crossing.sum()) / known if placed and known else None,
        most_tasks=max(count for count, _, _ in per) if placed else None,
        fewest_tasks=min(count for count, _, _ in per) if placed else None,
        busiest_per_second=max(arrives) if placed and len(arrives) == len(per) else None,
    )


def _title(one: TaskOutcome) -> str:
    if one.strategy is None:
        return "now"
    return one.strategy.value


def _racks(one: TaskOutcome) -> list[str | None]:
    app = one.application.app
    return [None if rack < 0 else app.racks[rack] for rack in app.known_rack.tolist()]


_SHORT = {
    "moves": "MOVES",
    "restores": "RESTORES",
    "restore_offsets": "RECORDS",
    "cross_rack_share": "X-RACK",
    "most_tasks": "MOST",
    "fewest_tasks": "FEWEST",
    "busiest_per_second": "BUSIEST",
}


_LEGEND = (
    "* current strategy",
    "RESTORES: stores to restore, with their RECORDS",
    "BUSIEST: records/s",
    "--wide lists moves and instances",
)


def _strategies(answer: TaskAnswer, *, wide: bool) -> Table:
    rows = [(one, row_of(_row(answer, one))) for one in (answer.today, *answer.outcomes)]
    if wide:
        return table(columns_of(TaskWhatIfRow), rows, stored=itemgetter(1))
    return table(
        [
            ("STRATEGY", lambda line: text(_title(line[0])) + " *" * line[0].is_running),
            *short(TaskWhatIfRow, _SHORT, itemgetter(1)),
        ],
        rows,
        spare=["FEWEST", "RECORDS"],
    )


def _instances(answer: TaskAnswer, *, wide: bool) -> Table:
    """Each instance with its tasks now, and with the first strategy or every one; those that leave included."""
    every = (answer.today, *answer.outcomes)
    pairs = [(one, one.loads(answer.rates)) for one in (every if wide else every[:2])]
    racks: dict[str, str | None] = {}
    for one in every[:2]:
        racks |= dict(zip(one.application.app.clients, _racks(one), strict=True))

    def told(
        one: TaskOutcome, load: Mapping[str, tuple[int, int, float | None]], process: str
    ) -> str:
        if process not in load:
            return NOTHING
        count, copies, rate = load[process]
        kept = f" + {number(copies)}" if copies else ""
        new = one.restoring[process]
        offsets, held = one.to_restore(new)
        built = f", restores {brief(offsets)} ({or_unknown(size)(held)})" if new else ""
        return f"{number(count)}{kept} ({UNKNOWN if rate is None else brief(rate)}/s){built}"

    return table(
        [
            ("INSTANCE", lambda process: text(answer.names[process])),
            ("RACK", lambda process: text(racks[process], UNKNOWN)),
            *(
                (
                    "NOW" if one.strategy is None else _title(one),
                    lambda process, one=one, load=load: told(one, load, process),
                )
                for one, load in pairs
                if one.placed is not None
            ),
        ],
        list(racks),
        title="Instances: tasks + copies (incoming records/s), records (bytes) to restore",
    )
