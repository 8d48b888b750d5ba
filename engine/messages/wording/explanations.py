"""The steps by which a strategy chooses the owner of a partition (`evenkeel explain`), in words."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from ...model.formats import percent, record_rate
from ...model.text import listed
from .clauses import NAMED, Clause, filled, known, whole


def _shares(fact: Fact) -> str:
    each = filled("topic {first} has {after:partition} for {bound:subscriber}: {before} each", fact)
    more = fact.partitions or 0
    if not more:
        return each
    return (
        f"{each}, and one more for the first {more}"
        if more > 1
        else f"{each}, and one more for the first"
    )


def _range(fact: Fact) -> str:
    where = "{first} is subscriber {bound} in member order (static members first, then by id)"
    if fact.after == fact.before:
        return filled(f"{where}, so it receives partition {{before}}", fact)
    return filled(f"{where}, so it receives partitions {{before}} to {{after}}", fact)


def _first_near(fact: Fact) -> str:
    if len(fact.subjects) == 1:
        return filled("{first} sends no rack, so every partition counts as near to it", fact)
    return filled(
        "{first} is the first subscriber with room whose rack ({second}) holds a replica", fact
    )


def _turn(fact: Fact) -> str:
    passed = fact.subjects[1:]
    turn = filled("it is the turn of {first}", fact)
    return f"{turn}, because {_some(passed)} do not subscribe to the topic" if passed else turn


def _tied(template: str) -> Clause:
    """Of which resource a member has least, and how the tie with the others was broken."""

    def clause(fact: Fact) -> str:
        others = len(fact.subjects) + fact.more - 1
        return filled(template, fact) + (f"; of {others + 1} it is the first by id" * bool(others))

    return clause


def _near(where: str) -> Clause:
    def clause(fact: Fact) -> str:
        member, own, *racks = fact.subjects
        return f"{member} is in rack {own}, {where} (replicas in {_some(racks)})"

    return clause


def _moves(fact: Fact) -> str:
    if len(fact.subjects) == 1:
        return "no member owns it now"
    return filled(
        "it moves from {second} to {first}, because a smaller cost counts for more than a move",
        fact,
    )


def _load(template: str) -> Clause:
    def clause(fact: Fact) -> str:
        value = known(fact.after)
        match fact.unit:
            case "peak_utilization":
                how = f"at {percent(value)} of its capacity"
            case "peak_load":
                how = f"at {record_rate(value)}"
            case _:
                how = f"at a lag of {whole(value):,}"
        return template.format(first=fact.subjects[0], how=how)

    return clause


def _some(names: tuple[str, ...] | list[str]) -> str:
    return listed(names, NAMED)


CLAUSES: Mapping[str, Clause] = {
    "why_shares": _shares,
    "why_range": _range,
    "why_first_near": _first_near,
    "why_rest": (
        "no subscriber with room is in a rack of its replicas, so {first} receives it to fill its share"
    ),
    "why_dealt_as": "{first} is partition {after} of {bound}, in order of topic and number",
    "why_turn": _turn,
    "why_topic_dealt_as": (
        "topic {first} is number {after} of {bound}: topics with the fewest subscribers come first, it has {before}"
    ),
    "why_fewest": _tied("{first} has {after:partition} so far, the fewest of the subscribers"),
    "why_lag_dealt_as": "its lag of {before:offset} is number {after} of {bound} in topic {first}",
    "why_fewest_of_topic": "{names} {has|have} {after:partition} of the topic so far, the fewest",
    "why_least_lag": _tied(
        "of these {first} has the least lag of the topic so far: {after:offset}"
    ),
    "why_kept": "{first} owns it and keeps it; it had {before:partition} and ends with {after:,}",
    "why_given_up": "it is revoked from {first}, which had {before:partition} and ends with {after:,}",
    "why_nobody_had": "no member reports that it owned it",
    "why_waits": "it is revoked from {second} first; a second rebalance assigns it to {first} (KIP-429)",
    "why_given": (
        "{first} receives it; it had {before:partition} and ends with {after:,}, the subscriber with fewest ends with"
        " {bound:,}"
    ),
    "why_counts_fixed": "{first} receives {after:partition}: counts are fixed before racks are compared",
    "why_near": _near("which holds a replica"),
    "why_far": _near("which holds no replica"),
    "why_rack_unknown": "the rack of {first} or of the replicas is unknown, so racks have no effect",
    "why_stays": "{first} owns it now, so nothing moves",
    "why_moves": _moves,
    "why_drawn": "{first} is chosen at random among {bound:subscriber} (seed {after})",
    "why_has_it": "{first} owns it now, as the cluster reports",
    "why_idle": "it has no incoming records, so {first} receives it to even out the number of partitions",
    "why_no_backlog": "no partition has a backlog, so every member keeps its partitions",
    "why_even_backlog": "no capacity is known, so members count as equals and {first} keeps backlogs even",
    "why_integral": "with it at {first} the lag of the coming hour adds up to {after:,} lag-seconds",
    "why_integral_elsewhere": "at {first}, the next best subscriber, it would add up to {after:,}",
    "why_load": _load("with it {first} is {how}"),
    "why_next_best": _load("the next best subscriber, {first}, would be {how} with it"),
    "why_unexplained": "{first} receives it; this strategy doesn't explain its steps",
    "why_task": "task {first} reads it",
    "why_task_dealt": "tasks are assigned to clients in order and balanced by thread: task to {first}",
    "why_task_racks": "racks decide among assignments with the same counts: task from {second} to {first}",
    "why_task_racks_off": "racks have no effect",
    "why_task_meanwhile": "{first} runs the task until {second} has restored its store",
    "why_task_kept": "{first} runs the task and keeps it; it had {before:task} and ends with {after:,}",
    "why_task_given": "{first} receives the task; it had {before:task} and ends with {after:,}",
}
"""Each step."""
