"""A fact in words: a clause without a full stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import ceil, floor

from ...assignors.kafka.protocol_names import BY_RACKS
from ...model.command import command_in_text
from ...model.facts import PROOF, Fact, FactKind, of_kind
from ...model.formats import byte_rate, change, duration, offsets, percent
from ...model.text import and_more, does, listed, plural
from . import (
    assumptions,
    changes,
    deployment,
    election,
    explanations,
    gains_and_losses,
    lifecycle,
    readiness,
    rebalances,
    runbook,
    streams,
    troubles,
    unreadable,
)
from .clauses import Clause, filled, known, partitions, subjects, whole

MEASURES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "largest_member_lag": ("largest member lag", lambda n: offsets(round(n))),
    "cross_rack_share": ("cross-rack share", percent),
    "partition_spread": ("partition spread", lambda n: f"{round(n):,}"),
    "drain_seconds": ("drain time", duration),
    "moves": ("moves", lambda n: f"{round(n):,}"),
    "partition_counts": ("counts", lambda n: f"{round(n):,}"),
    "peak_utilization": ("peak utilization", percent),
    "peak_load": ("peak load", lambda n: f"{n:,.10g}/s"),
    "lag_integral": ("lag integral", lambda n: f"{n:,.0f} lag-seconds"),
    "cross_rack_bytes": ("bytes across racks", byte_rate),
    "cross_rack_rate": ("records across racks", lambda n: f"{n:,.10g}/s"),
}
"""How a measure is called, and how a value of it reads."""


_OF_A_WAY = (FactKind.REASON, FactKind.HOW, FactKind.NOTE)
"""The kinds of facts that the manual has sentences for."""


@lru_cache(maxsize=1 << 12)
def words(fact: Fact) -> str:
    """
    A fact as a clause; of a measure that has no words here, the words of another program, or its name and values.

    Kept, because most groups of a fleet are alike in many facts.

    >>> words(Fact(kind=FactKind.GAIN, measure="largest_member_lag", before=900, after=300))
    'largest member lag 900 -> 300 offsets (-67%)'
    """
    if fact.kind is FactKind.LOSS and fact.measure not in _WEIGHED:
        return f"its assignment is flawed: {_clause(fact)}"
    return _clause(fact)


def _clause(fact: Fact) -> str:
    clauses = troubles.CLAUSES if fact.kind is FactKind.DIAGNOSIS else CLAUSES
    if fact.measure in clauses:
        return filled(clauses[fact.measure], fact)
    is_of_a_way = fact.kind in _OF_A_WAY and fact.quote is None
    return (runbook.sentence_of(fact) if is_of_a_way else None) or _plain(fact)


def joined(facts: Iterable[Fact]) -> str:
    """Clauses one after the other; a fact and its remarks stand closer together."""
    return "; ".join(each_with_remarks(facts))


def each_with_remarks(facts: Iterable[Fact]) -> tuple[str, ...]:
    """A clause for each fact, its remarks in it."""
    groups: list[list[Fact]] = []
    for fact in facts:
        if fact.kind is FactKind.REMARK and groups:
            groups[-1].append(fact)
        else:
            groups.append([fact])
    return tuple(", ".join(map(words, group)) for group in groups)


def formatted(measure: str, value: float) -> str:
    """A value of a measure as it reads."""
    return MEASURES[measure][1](value) if measure in MEASURES else f"{value:,g}"


def _plain(fact: Fact) -> str:
    if fact.quote is not None:
        return fact.quote
    values = [formatted(fact.measure, v) for v in (fact.before, fact.after) if v is not None]
    text = " ".join([_name(fact), *([change(*values)] if len(values) == 2 else values)])
    return f"{text} ({subjects(fact)})" if fact.subjects else text


def _lag(fact: Fact) -> str:
    floor = fact.kind is FactKind.FINDING
    return filled(_AT_ITS_FLOOR if floor else gains_and_losses.lag("largest member lag"), fact)


_AT_ITS_FLOOR = (
    "the largest member lag ({after:offset}) is at its lower bound ({bound:,}): no assignment can reduce it; check the"
    " hottest partition, or capacity"
)


def _moves(fact: Fact) -> str:
    if fact.kind is not FactKind.LOSS:
        return _plain(fact)
    return filled("{after:partition} would move, the policy allows {bound:,}", fact)


def _unowned(fact: Fact) -> str:
    more = whole(fact.after) - whole(fact.before)
    if more > 0:
        return f"{more:,} more {plural('partition', more)} without owner"
    return f"{does(-more, 'unowned partition', 'gets', 'get')} an owner"


def _lost_racks(fact: Fact) -> str:
    cure = "racks-server, which they list, does"
    if BY_RACKS not in fact.subjects[1:]:
        words = "evenkeel runbook --group {} --strategy racks-server"
        command = command_in_text(words, fact.subjects[0])
        cure = f"evenkeel's assignor for brokers does: `{command}`"
    lost = (
        "lost rack awareness: {before:percent} of its partitions are read across racks, {after:percent} is possible;"
        " Kafka's assignors for brokers (KIP-848) don't use racks, although all members send theirs; "
    )
    return filled(lost, fact) + cure


def _stray_rack(fact: Fact) -> str:
    rack, meant = fact.subjects[:2]
    given = fact.after == fact.bound
    where = "racks in a rule of evenkeel.toml" if given else "client.rack"
    both = " (or racks in a rule of evenkeel.toml)" if fact.after and not given else ""
    as_broker = (
        f"equal to broker.rack, which seems to be {meant}" if meant else "one of broker.rack"
    )
    own = filled(f"{{bound:member}} ({subjects(fact, 2)})", fact)
    unknown = "its cross-rack traffic is unknown"
    return f"no broker has the rack {rack} of {own}: {unknown}; make {where}{both} {as_broker}"


def _given(what: str) -> Clause:
    """Partitions that an assignment gives where it should not, the first of them named."""

    def clause(fact: Fact) -> str:
        if fact.partitions == 1:
            return f"1 partition {what}, {fact.subjects[0]}"
        return f"{partitions(fact)}, first {fact.subjects[0]}, of which each {what}"

    return clause


_WEIGHED: Mapping[str, Clause] = {
    "largest_member_lag": _lag,
    "cross_rack_share": _plain,
    **gains_and_losses.CLAUSES,
    **readiness.LOSSES,
    "partition_spread": _plain,
    "moves": _moves,
    "unowned": _unowned,
}

CLAUSES: Mapping[str, Clause] = {
    **_WEIGHED,
    **changes.CLAUSES,
    **lifecycle.CLAUSES,
    **deployment.CLAUSES,
    **election.CLAUSES,
    **explanations.CLAUSES,
    **unreadable.CLAUSES,
    **streams.CLAUSES,
    **assumptions.CLAUSES,
    **rebalances.CLAUSES,
    **readiness.CLAUSES,
    "rebalancing": "rebalancing ({names}): the assignment is changing",
    "idle_members": "{after} of {bound:member} own none of the {partitions}",
    "unequal_subscriptions": (
        "its {bound:member} have {after} different subscriptions: not all of them read {names} ({partitions})"
    ),
    "topic_takers": "only {after} of {bound} members can receive {names}",
    "subscription_changing": (
        "it looks like a rolling change: since {after:moment} {before} of {bound} have another subscription than all"
        " had until then"
    ),
    "uneven_by_subscription": (
        "its members have {first} partitions, and only {after} of {bound:member} can receive {others}"
    ),
    "evened_out_by": "{others} would give {first} (KIP-49)",
    "even_as_can_be": "no member with fewer can receive another: that is as even as these subscriptions allow",
    "lost_records": "retention deleted {after:unread record} on {partitions}",
    "commits_beyond_end": "commit beyond end on {partitions}",
    "compacted_lag": (
        "lag on {partitions} of compacted topics ({names}) counts offsets, of which compaction may have removed the"
        " records: it is an upper bound"
    ),
    "commits_of_no_partition": "commits for {partitions} that no longer exist: {names}",
    "unsubscribed_commits": ("commits on {partitions} without subscriber, left out of totals"),
    "no_offset_reset": (
        "no commits on {partitions}, and the start offset is unknown: set auto_offset_reset in a rule of evenkeel.toml"
    ),
    "lost_rack_awareness": _lost_racks,
    "stray_rack": _stray_rack,
    "members_left_out": (
        "the group leader {first}: with static and dynamic members in one group, its {second} leaves some out, by the"
        " order in which they joined"
    ),
    "leaders_only": (
        "{before:percent} of its partitions are read across racks because brokers serve reads from leaders only; with"
        " replica.selector.class set to RackAwareReplicaSelector (KIP-392) it would be {after:percent}"
    ),
    "unknown_follower_fetching": (
        "cross-rack cost is unknown, because it isn't known if brokers serve reads from followers; grant"
        " DESCRIBE_CONFIGS on the cluster, or set follower_fetching of the cluster in evenkeel.toml"
    ),
    "unknown_record_size": (
        "cross-rack cost is unknown, because the record size is unknown on {partitions} ({names}); grant DESCRIBE"
        " on the cluster, for log directories, and DESCRIBE_CONFIGS on topics, or set bytes_per_record in a rule"
        " (compacted and purged topics always need that)"
    ),
    "read_by_sticky": (
        "{names} {is|are} replayed afresh: as in Kafka, sticky reads owned and generation of a member from"
        " user_data only"
    ),
    "read_by_cooperative_sticky": (
        "{names} {is|are} replayed afresh: as in Kafka, cooperative-sticky reads owned from the member and its"
        " generation, not from user_data"
    ),
    "gone_but_kept": _given("is kept although it no longer exists"),
    "given_twice": _given("is assigned to more than one member"),
    "given_unsubscribed": _given("is assigned to a member that does not subscribe to its topic"),
    "racks_equal": ("racks make no difference, each partition costs the same on every member"),
    "raised_limits": "limits per topic raised by {after}, because subscriptions differ",
    "cross_rack_partitions": "{after:,} of {bound:partition} cross racks",
    "new_owners": "{after:,} with a new owner",
    "cross_rack_sources": "{after:source partition crosses|cross} racks",
    "backlog_counted": "the backlog of {partitions} counts as work of the coming hour",
    "unknown_rates": "the unknown incoming rate of {partitions} is assumed to be the mean of the others",
    "no_arrivals_known": "no incoming rates are known: assumed to be 0",
    "no_capacity_known": "no capacity is known: members count as equals, incoming rates and pauses are left out",
    "no_backlog": "no backlog: no partition moves",
    "task_moves": "{after:,} of {bound:task} move",
    "assignment_cost": "total cost {after}, no assignment with these counts costs less",
    "placement_cost": "no placement with these counts costs less",
}
"""Each measure with a clause of its own."""

_COSTS = ("assignment_cost", "placement_cost")
_FIGURES = ("cross_rack_partitions", "new_owners", "cross_rack_sources", "task_moves")
"""Remarks that give a proof's figures, in brackets behind it."""

_WITH_FIGURE = ("peak_utilization", "peak_load", "lag_integral")
"""Measures with a figure, proven or not: load of the busiest member, and lag to come."""


def proof(facts: Iterable[Fact]) -> str | None:
    """
    What is proven of an assignment as one clause; None when nothing is claimed.

    >>> def exact(measure): return Fact(kind=FactKind.EXACT, measure=measure)
    >>> proof([exact("partition_counts"), exact("moves")])
    'exact'
    >>> lag = Fact(kind=FactKind.WITHIN, measure="largest_member_lag", after=1204, bound=1170)
    >>> proof([exact("partition_counts"), lag, Fact(kind=FactKind.NOT_PROVEN, measure="moves")])
    'counts exact; largest member lag 1,204, at most 3% above its lower bound of 1,170; moves not proven'
    >>> busiest = Fact(kind=FactKind.WITHIN, measure="peak_utilization", after=0.7084, bound=0.6912)
    >>> proof([busiest, exact("moves")])
    'busiest member at 70.9% of its capacity, no assignment has less than 69.1%; moves exact'
    >>> proof([Fact(kind=FactKind.EXACT, measure="lag_integral", before=9e6, after=4.2e6, bound=4.2e6)])
    'exact (lag integral 4,200,000 lag-seconds over the hour, 9,000,000 with the current assignment)'
    """
    claims = of_kind(facts, *PROOF)
    if not claims:
        return None
    figures = [words(claim) for claim in claims if claim.measure in _FIGURES]
    figures += [
        _with_figure(claim)
        for claim in of_kind(claims, FactKind.EXACT)
        if claim.measure in _WITH_FIGURE and claim.after is not None
    ]
    other = of_kind(claims, FactKind.REMARK)
    remarks = [words(remark) for remark in other if remark.measure not in _FIGURES]
    return "; ".join([_claimed(claims) + (f" ({', '.join(figures)})" if figures else ""), *remarks])


def _claimed(claims: Sequence[Fact]) -> str:
    exact, within = of_kind(claims, FactKind.EXACT), of_kind(claims, FactKind.WITHIN)
    unproven = of_kind(claims, FactKind.NOT_PROVEN)
    if cost := next((claim for claim in exact if claim.measure in _COSTS), None):
        return f"exact: {words(cost)}"
    left_out = [fact for fact in unproven if fact.measure == "largest_member_lag"]
    missing = [fact for fact in unproven if fact not in left_out]
    others = [_bounded(claim) for claim in within if claim.measure not in _WITH_FIGURE]
    others += [f"{_all([_name(fact) for fact in missing])} not proven"] if missing else []
    others += [_left_out(fact) for fact in left_out]
    peaks = [_with_figure(claim) for claim in within if claim.measure in _WITH_FIGURE]
    if not peaks and not others:
        return "exact"
    proven = [f"{_all([_name(fact) for fact in exact])} exact"] if exact else []
    return "; ".join([*peaks, *proven, *others])


def _with_figure(fact: Fact) -> str:
    """The busiest member or all lag, and its lower bound: rounded away from each other."""
    if fact.measure == "lag_integral":
        least = f", no assignment has less than {floor(known(fact.bound)):,}"
        return (
            f"lag integral {ceil(known(fact.after)):,} lag-seconds over the hour, "
            f"{known(fact.before):,.0f} with the current assignment{least * (fact.kind is not FactKind.EXACT)}"
        )
    share = fact.measure == "peak_utilization"
    scale = 1_000 if share else 10
    most, least = (
        f"{end(round(known(value) * scale, 6)) / 10:,.10g}{'%' if share else '/s'}"
        for end, value in ((ceil, fact.after), (floor, fact.bound))
    )
    busiest = f"busiest member {'at' if share else 'takes'} {most}{' of its capacity' * share}"
    return (
        busiest
        if fact.kind is FactKind.EXACT
        else f"{busiest}, no assignment has less than {least}"
    )


def _name(fact: Fact) -> str:
    return MEASURES[fact.measure][0] if fact.measure in MEASURES else fact.measure.replace("_", " ")


def _left_out(fact: Fact) -> str:
    why = f"{partitions(fact)} of unknown lag" if fact.partitions else "lags too large to add up"
    return f"largest member lag left out: {why}"


def _bounded(fact: Fact) -> str:
    after, bound = known(fact.after), known(fact.bound)
    if fact.measure == "largest_member_lag":
        gap = 100 * (after - bound) / bound
        digits = 0 if gap >= 2 else 2
        above = ceil(round(gap * 10**digits, 6)) / 10**digits
        return f"largest member lag {after:,.0f}, at most {above:g}% above its lower bound of {bound:,.0f}"
    if (
        fact.measure == "cross_rack_share"
    ):  # both rounded away from each other: the gap never looks smaller
        share, least = ceil(round(1000 * after, 6)) / 10, floor(round(1000 * bound, 6)) / 10
        return f"cross-rack share {share:g}%, lower bound {least:g}%"
    return f"{_name(fact)} {formatted(fact.measure, after)}, lower bound {formatted(fact.measure, bound)}"


def _all(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def replay(facts: Iterable[Fact]) -> str | None:
    """
    How a strategy was replayed; None where it was not.

    >>> replay([Fact(kind=FactKind.REPLAY, measure="next_rebalance", after=2, partitions=1)])
    'next rebalance, settled in 2 rounds; 1 partition pauses in between'
    """
    text = None
    for fact in of_kind(facts, FactKind.REPLAY):
        if fact.measure == "warming_copies":
            warm = "copy warms" if fact.after == 1 else "copies warm"
            text = f"{text}, {whole(fact.after)} {warm} up first"
        elif fact.measure == "probing_rebalances":
            text = f"{text}; probing rebalances follow until all tasks are in place"
        else:
            text = fact.measure.replace("_", " ")
            if (fact.after or 1) > 1:
                waits = does(fact.partitions or 0, "partition", "pauses", "pause")
                text += filled(f", settled in {{after}} rounds; {waits} in between", fact)
    return text


def strategies(fact: Fact) -> str:
    """The strategies that a fact is about, all of them."""
    return listed(fact.subjects, len(fact.subjects)) + and_more(fact.more)
