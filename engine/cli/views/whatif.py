"""What `evenkeel whatif` prints: what becomes of the group, under each strategy, and what was assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...assignors.kafka.protocol_names import strategy_of
from ...messages.wording import because, reasons, replay, sentence, several, words
from ...model.assignments import ABLE, Deployment
from ...model.formats import (
    NOTHING,
    UNKNOWN,
    brief,
    change,
    minute,
    number,
    or_unknown,
    utilization,
)
from ...pipeline.whatif import Sizes, SupposedLoad, WhatIfAnswer, WhatIfOutcome
from ...records import WhatIfRow, row_of, to_json
from .columns import pick, short, table
from .fleet import in_cluster
from .scoreboard import move_lines
from .strategy_table import (
    AHEAD,
    CAUGHT_UP,
    NEEDS_PLAN,
    Row,
    before_and_after,
    caught_up,
    lag_ahead,
    lag_change,
    show_others,
    steps_to,
    strategy_name,
    why_not,
)
from .tables import Table, screen_width, tell, tell_answer, tell_legend, tell_list, text


def objects(answer: WhatIfAnswer) -> Iterator[dict[str, Any]]:
    """One object for the group now, and one per strategy."""
    group = answer.supposed.seen.group.group
    assumed, lost = ([words(fact) for fact in facts] for facts in (answer.assumed, answer.lost))
    for outcome, loads in zip((answer.today, *answer.outcomes), answer.loads, strict=True):
        yield {
            "group": group,
            **to_json(_row(outcome, answer.sizes.get(outcome.candidate.strategy))),
            "assignment": outcome.lists,
            "moved": [asdict(move) for move in outcome.moves],
            "on": {member: asdict(load) for member, load in loads.items()},
            "lost": lost if outcome is not answer.today else [],
            "assumed": assumed if outcome is not answer.today else [],
        }


def _row(outcome: WhatIfOutcome, sizes: Sizes | None) -> WhatIfRow:
    candidate = outcome.candidate
    return WhatIfRow(
        strategy=candidate.strategy,
        is_running=candidate.is_running,
        deployment=candidate.deployment,
        feasibility=candidate.feasibility,
        reason=reasons(candidate.reason),
        replay=replay(candidate.replay),
        members=outcome.members,
        idle_members=outcome.idle,
        partitions=outcome.partitions,
        diagnosis=outcome.diagnosed.diagnosis if outcome.diagnosed else None,
        diagnosis_reason=because(outcome.facts) or None,
        fewest_members=sizes.fewest if sizes else None,
        enough_members=sizes.enough if sizes else None,
        fewest_members_reason=because_of(sizes) if sizes else None,
        most_members=sizes.most if sizes else None,
        findings=tuple(words(flaw) for flaw in candidate.findings),
        score=candidate.score,
        forecast=candidate.forecast,
    )


def because_of(sizes: Sizes) -> str | None:
    """Why no smaller number of members is enough, or why none is known, as a clause."""
    return "; ".join(words(fact) for fact in sizes.why) or None


def print_answer(answer: WhatIfAnswer, *, wide: bool = False) -> None:
    """
    Print what becomes of the group with the strategy that it runs, then every strategy, then what was assumed.

    Args:
        answer: It.
        wide: Whether all columns, members and moves are shown.
    """
    width = screen_width()
    [first] = answer.outcomes[:1] or [answer.today]
    rows = [
        row_of(_row(one, answer.sizes.get(one.candidate.strategy)))
        | {"facts": [row_of(fact) for fact in one.candidate.reason]}
        for one in (answer.today, *answer.outcomes)
    ]
    found = [row for row in rows if row["moves"] is not None]
    changed = answer.supposed.is_changed
    told = [row for row in found if changed or row["moves"] or not row["is_running"]]
    group = answer.supposed.seen.group
    tables = [table(pick(WhatIfRow, *_WIDE), rows) if wide else _table(answer, told)]
    if answer.supposed.layout.left.racks or wide:
        tables.append(_members(answer, wide=wide))
    tell_answer(_headline(answer, first), _labelled(answer, first, rows), tables, wide=wide)
    show_others((row for row in rows if row not in found), group.group, width)
    assumed = [*answer.lost, *answer.assumed]
    tell_list("Assumed:", (sentence(words(fact)) for fact in assumed), width)
    if wide:
        heading = f"Moves with {first.candidate.strategy}"
        tell(["", *move_lines(heading, first.moves, answer.supposed.names)], width=width)
    for row in [row for row in told if row["feasibility"] not in ABLE and not wide][:1]:
        why = why_not(row)
        steps = f": {steps_to(row['strategy'], group.group)}" if why == NEEDS_PLAN else ""
        print(f"\n* {text(why)}{steps}")
    more = "" if wide else "--wide lists moves and members"
    tell_legend(tables, more, "--json has everything", width=width)


def _headline(answer: WhatIfAnswer, first: WhatIfOutcome) -> str:
    group = answer.supposed.seen.group
    name = in_cluster(group.group, group.cluster)
    what = f"with {text(first.candidate.strategy)}" if answer.outcomes else "now"
    return f"What if: {name} {what}, {_change(answer)}; {minute(group.taken_at)}"


def _change(answer: WhatIfAnswer) -> str:
    """What is different, in numbers."""
    before, after = answer.supposed.seen.group, answer.supposed.group
    ends = [
        (len(before.members), len(after.members), "member"),
        (answer.today.partitions, (answer.outcomes or [answer.today])[0].partitions, "partition"),
    ]
    told = [f"{change(f'{now:,}', several(then, noun))}" for now, then, noun in ends if now != then]
    racks = answer.supposed.layout.left.racks
    told += [text(f"without {', '.join(racks)}")] if racks else []
    changed = "other racks or capacities" if answer.supposed.is_changed else "no change given"
    return ", ".join(told) or changed


def _labelled(
    answer: WhatIfAnswer, first: WhatIfOutcome, rows: Sequence[Row]
) -> list[tuple[str, str | None]]:
    """What becomes of the group with one strategy, from the diagnosis to what moves."""
    now, then = rows[0], (rows[1:] or rows)[0]
    if then["moves"] is None:
        return [("Health", _health(answer, answer.today)), *_sizes(answer)]
    return [
        ("Health", _health(answer, first)),
        ("Effect", sentence(lag_change(now, then) or "")),
        ("Busiest", _busiest(answer, now, then)),
        ("Moves", f"{len(first.moves):,} of {several(first.partitions, 'partition')}"),
        *_sizes(answer),
    ]


def _health(answer: WhatIfAnswer, first: WhatIfOutcome) -> str:
    assert answer.today.diagnosed is not None
    assert first.diagnosed is not None
    now, then = answer.today.diagnosed.diagnosis.value, first.diagnosed.diagnosis.value
    why = because(first.facts)
    named = f"still {then}" if now == then and answer.supposed.is_changed else then
    what = named if now == then else change(now, then)
    return f"{what[0].upper()}{what[1:]}{f': {why}' if why else ''}"


def _busiest(answer: WhatIfAnswer, now: Row, then: Row) -> str | None:
    """Before and after, which member uses the largest share of its capacity; None where that is not known."""
    used = [row["forecast_utilization_expected"] for row in (now, then)]
    if None in used:
        return None
    names = []
    for loads in answer.loads[:2]:
        known = {m: load.utilization or 0 for m, load in loads.items()}
        names.append(answer.supposed.names[max(known, key=lambda member: known[member])])
    ends = before_and_after(*map(utilization, used))
    return f"{before_and_after(names[0], names[-1])}: {ends} of its capacity"


_WIDE = (
    *("strategy", "is_running", "feasibility", "members", "idle_members", "partitions", "moves"),
    *("forecast_utilization_expected", "forecast_lag_low", "forecast_lag_expected"),
    *("forecast_lag_high", "forecast_drained_seconds_low", "forecast_drained_seconds_high"),
    "cross_rack_share",
    *("largest_member_lag", "fewest_members", "most_members", "diagnosis", "diagnosis_reason"),
    *("reason", "replay"),
)


def _table(answer: WhatIfAnswer, rows: Sequence[Row]) -> Table:
    """The current assignment and the strategies that have an answer."""
    running = [row["strategy"] for row in rows[1:] if row["is_running"]]
    group = answer.supposed.seen.group
    runs = (
        running[0] if running else strategy_of(group.type, group.assignor or "") or group.assignor
    )

    def busiest(row: Row) -> str:
        used = row["forecast_utilization_expected"]
        return UNKNOWN if used is None else utilization(used)

    def needed(row: Row) -> str:
        sizes = answer.sizes.get(row["strategy"])
        if sizes is None or sizes.keeps_up is False:
            return NOTHING
        return UNKNOWN if sizes.fewest is None else brief(sizes.fewest)

    def name(row: Row) -> str:
        return strategy_name(row, runs) + ("" if row["feasibility"] in ABLE else " *")

    racks = any(row["cross_rack_share"] is not None for row in rows)
    health, across, moves = short(
        WhatIfRow, {"diagnosis": "HEALTH", "cross_rack_share": "X-RACK", "moves": "MOVES"}
    )
    return table(
        [
            *(("STRATEGY", name), health, (AHEAD, lag_ahead), (CAUGHT_UP, caught_up)),
            *((">BUSIEST", busiest), *([across] if racks else []), moves),
            (">MEMBERS NEEDED", needed),
        ],
        rows,
        spare=["CAUGHT UP", "MEMBERS NEEDED", "X-RACK"],
    )


def _members(answer: WhatIfAnswer, *, wide: bool) -> Table:
    """Each member with what it has now, and with the first strategy or every one; those that leave included."""
    supposed, every = answer.supposed, (answer.today, *answer.outcomes)
    pairs = list(zip(every, answer.loads, strict=True))
    members = {one.id: one for one in (*supposed.seen.group.members, *supposed.group.members)}

    def told(loads: Mapping[str, SupposedLoad], member: str) -> str:
        load = loads.get(member)
        if load is None:
            return NOTHING
        rate, used = or_unknown(brief)(load.per_second), or_unknown(utilization)(load.utilization)
        return f"{number(load.partitions)} ({rate}/s, {used})"

    return table(
        [
            ("MEMBER", lambda member: text(supposed.names[member])),
            ("RACK", lambda member: text(members[member].rack, UNKNOWN)),
            *(
                (f">{_title(one)}", lambda member, loads=loads: told(loads, member))
                for one, loads in (pairs if wide else pairs[:2])
                if loads
            ),
        ],
        list(members),
        title="Members: partitions (incoming records/s, share of the member's capacity)",
    )


def _title(outcome: WhatIfOutcome) -> str:
    candidate = outcome.candidate
    return "NOW" if candidate.deployment is Deployment.LIVE else text(candidate.strategy)


def _sizes(answer: WhatIfAnswer) -> list[tuple[str, str | None]]:
    """How many members are enough, and how many can be active, with the first strategy for which that was asked."""
    name, sizes = next(iter(answer.sizes.items()), (None, None))
    if sizes is None:
        return []
    why = because_of(sizes)
    if sizes.keeps_up is False:
        fewest = "no number of members is enough"
    elif sizes.fewest is not None:
        fewest, why = f"{several(sizes.fewest, 'member')} needed", why and f"with fewer, {why}"
    else:
        most = "" if sizes.enough is None else f", {sizes.enough:,} are enough"
        fewest = f"members needed unknown{most}"
    now = f"with {name}, {answer.today.members:,} now"
    active = UNKNOWN if sizes.most is None else f"{sizes.most:,}"
    return [
        ("Size", f"{fewest} ({now}){f': {why}' if why else ''}"),
        ("", f"up to {active} members can be active"),
    ]
