"""What `evenkeel whatif` prints of a Kafka Streams application: strategies, instances, and what was assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from ...messages.wording import sentence, several, words
from ...model.columns import columns_of
from ...model.formats import NOTHING, UNKNOWN, number, or_unknown, ratio, size
from ...pipeline.whatif import TaskAnswer, TaskOutcome
from ...records import TaskWhatIfRow, row_of, to_json
from ...streams.settings import RackStrategy
from .columns import head, table
from .scoreboard import MOVES_SHOWN
from .tables import Table, show, tell, text

_COLUMNS = {spec.name: spec for spec in columns_of(TaskWhatIfRow)}
LIVE = "live"


def objects(answer: TaskAnswer) -> Iterator[dict[str, Any]]:
    """One object for the application as it is, and one per strategy; instances by name."""
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


def print_answer(answer: TaskAnswer) -> None:
    """A table of strategies, one of instances, the moves with the first strategy, and the assumptions in sentences."""
    [first] = answer.outcomes[:1] or [answer.today]
    moved = [f"  {t}: {answer.names[a]} -> {answer.names[b]}" for t, a, b in first.moves]
    title = f"Changes hands with {_title(first)}: {several(len(moved), 'task')}"
    more = len(moved) - MOVES_SHOWN
    show([_strategies(answer), _instances(answer)])
    tell(
        [
            "",
            *map(text, [title] if moved else []),
            *map(text, moved[:MOVES_SHOWN]),
            *([f"  and {more:,} more (--json has all)"] if more > 0 else []),
            *(text(sentence(words(fact))) for fact in answer.lost),
            "Assumed:",
            *(text(f"  {sentence(words(fact))}") for fact in answer.assumed),
        ]
    )


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
        cross_rack_share=int(placed.crossing.sum()) / known if placed and known else None,
        most_tasks=max(count for count, _, _ in per) if placed else None,
        fewest_tasks=min(count for count, _, _ in per) if placed else None,
        busiest_per_second=max(arrives) if placed and len(arrives) == len(per) else None,
    )


def _title(one: TaskOutcome) -> str:
    if one.strategy is None:
        return "(as it is)"
    return one.strategy.value + (" (runs)" if one.is_running else "")


def _racks(one: TaskOutcome) -> list[str | None]:
    app = one.application.app
    return [None if rack < 0 else app.racks[rack] for rack in app.known_rack.tolist()]


def _strategies(answer: TaskAnswer) -> Table:
    rows = [(one, row_of(_row(answer, one))) for one in (answer.today, *answer.outcomes)]
    shown = [
        spec for name, spec in _COLUMNS.items() if name not in ("strategy", "is_running", "reason")
    ]
    return table(
        [
            ("Strategy", lambda line: text(_title(line[0]))),
            *shown,
            (head(_COLUMNS["reason"]), lambda line: text(line[1]["reason"] or "")),
        ],
        rows,
        stored=itemgetter(1),
        title=f"What if: {text(answer.group.group)}",
        apart=True,
        spare=["Threads", "Fewest", "Restore offsets"],
    )


def _instances(answer: TaskAnswer) -> Table:
    """Each instance with the tasks that it has now, and with each strategy, those that leave included."""
    every = (answer.today, *answer.outcomes)
    loads = [one.loads(answer.rates) for one in every]
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
        anew = one.restoring[process]
        offsets, held = one.to_restore(anew)
        built = f", restores {number(offsets)} ({or_unknown(size)(held)})" if anew else ""
        return f"{number(count)}{kept} ({UNKNOWN if rate is None else ratio(rate)}/s){built}"

    return table(
        [
            ("Instance", lambda process: text(answer.names[process])),
            ("Rack", lambda process: text(racks[process], UNKNOWN)),
            *(
                (f">{_title(one)}", lambda process, one=one, load=load: told(one, load, process))
                for one, load in zip(every, loads, strict=True)
                if one.placed is not None
            ),
        ],
        list(racks),
        title="Instances: tasks, copies after a +, and what arrives; offsets (bytes) of stores to restore",
    )
