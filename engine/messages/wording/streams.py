"""Kafka Streams applications in words: why racks have no effect, and which values are assumed."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from ...model.states import PauseBasis
from .clauses import Clause, filled, subjects, whole

_TAKEN = "rack.aware.assignment.strategy is assumed to be {names}, "
_IN_RULE = "(set it in [rules.streams])"
"""For values that the Kafka protocol doesn't expose."""

_CLIENTS = "{count:client} ({names}) {has|have} "
_SOURCES = "{count:source partition} ({names}) {has|have} "
_CHANGELOGS = "{count:changelog partition} ({names}) {has|have} "
_REPLAYED = "no store would have all copies in one rack with "
"""The effect of a setting that was replayed."""

_TELL_NO_RACK = "{count:client} ({names}) {sends|send} no rack; "


def _undecided(fact: Fact) -> str:
    topic, *likely = fact.subjects
    return (
        f"changelog {topic} belongs to sub-topology {' or '.join(likely)} (the Kafka protocol doesn't expose"
        " which): all of them count as stateful, and its racks and offsets are left out (name it in changelogs of"
        " [rules.streams])"
    )


def _left_out(fact: Fact) -> str:
    topic, *sized = fact.subjects
    return f"changelog {topic} is left out, because others are configured for sub-topology {' and '.join(sized)}"


def _few_clients(fact: Fact) -> str:
    clients = whole(fact.after)
    return f"{whole(fact.bound)} standbys are configured, and with {clients} clients a task can have {clients - 1}"


def _restored(fact: Fact) -> str:
    moves = "{count:task} ({names}) {pauses until its|pause until their} stores are restored, "
    if fact.before is None:
        return filled(moves + "for an unknown time, which is not part of the cost", fact)
    return filled(
        moves
        + "{before:record} in at most {after:duration} at {bound:rate} per thread"
        + _rate_basis(fact),
        fact,
    )


def _rate_basis(fact: Fact) -> str:
    """How the rate at which threads restore is known; facts of earlier versions don't say it."""
    return f" ({_RATE_BASES[PauseBasis(fact.quote)]})" if fact.quote else ""


_RATE_BASES = {
    PauseBasis.CONFIGURED: "configured",
    PauseBasis.OBSERVED: "median observed",
    PauseBasis.AT_MOST: "at least, as observed",
    PauseBasis.AT_LEAST: "at most, as observed",
    PauseBasis.USUAL: "assumed",
}
"""By the basis of the time that restoring takes, which is at most so long where the rate is at least so high."""


def _warm_up(fact: Fact) -> str:
    moves = "{count:task} ({names}) {moves after a copy|move after copies} warmed up, "
    if fact.before is None:
        return filled(moves + "in an unknown time", fact)
    return filled(
        moves + "{before:record} in about {after:duration}, {bound:probing rebalance}", fact
    )


CLAUSES: Mapping[str, Clause] = {
    # why racks have no effect
    "strategy_none": "the strategy is none",
    "clients_without_rack": f"{_CLIENTS}no rack, or one that its members disagree on",
    "source_replicas_unknown": f"{_SOURCES}no known replicas",
    "changelog_replicas_unknown": f"{_CHANGELOGS}no known replicas",
    "source_brokers_without_rack": (
        "{count:source partition} ({names}) {lies|lie} on a broker without rack"
    ),
    "changelog_brokers_without_rack": (
        "{count:changelog partition} ({names}) {lies|lie} on a broker without rack"
    ),
    "source_racks_unknown": f"{_SOURCES}no replica whose rack is known",
    "changelog_racks_unknown": f"{_CHANGELOGS}no replica whose rack is known",
    "sticky_costs_not_configured": (
        "the sticky task assignor uses racks only if rack.aware.assignment.traffic_cost and non_overlap_cost are both"
        " configured"
    ),
    "equal_costs": "every task costs the same on every client, so racks make no difference",
    "broker_looks_at_no_rack": "the broker doesn't use racks",
    # where a replay may differ
    "stores_restored": _restored,
    "stores_warm_up": _warm_up,
    "standbys_dealt_in_any_order": (
        "Kafka's sticky task assignor assigns standbys in a random order: clients of copies may differ, active tasks"
        " don't"
    ),
    # assumed values
    "restore_rate": lambda f: filled("a thread restores {bound:rate}" + _rate_basis(f), f),
    "strategy_taken_as_seen": (f"{_TAKEN}which gives exactly the current assignment {_IN_RULE}"),
    "strategy_taken_by_default": f"{_TAKEN}Kafka's default {_IN_RULE}",
    "standbys_taken": (
        f"num.standby.replicas is assumed to be {{after}}, the present number of copies of every store {_IN_RULE}"
    ),
    "tags_taken": lambda f: (
        f"rack.aware.assignment.tags is assumed to be {','.join(f.subjects)}, all tags of the clients {_IN_RULE}"
    ),
    "tasks_run_nowhere": "{count:task} ({names}) {runs|run} nowhere at the moment",
    "tasks_read_unknown": "the partitions of {count:task} ({names}) are not known, and left out",
    "changelog_ends_unknown": (
        f"{_CHANGELOGS}no known end: it counts as empty, so copies of it never warm up"
    ),
    "clients_in_several_racks": f"{_CLIENTS}threads in several racks",
    "racks_known_by_rule": (
        "the rack of {count:client} ({names}) is known only from racks of a rule: cross-rack traffic is measured by it,"
        " Kafka sees no client.rack"
    ),
    "racks_switched_off": (
        "rack-aware assignment is off for all {bound:client} (KIP-925), because {after:client sends|send} no"
        " client.rack ({names}): set it there"
    ),
    "client_rack_first": "after client.rack is set on {count:client} ({names})",
    "clients_tell_no_rack": f"{_TELL_NO_RACK}set client.rack",
    "protocol_tells_no_rack": (
        f"{_TELL_NO_RACK}set client.rack of Kafka Streams (the broker doesn't see consumer.client.rack), or configure"
        " racks by client id or host"
    ),
    "changelogs_without_tasks": (
        "changelogs are configured for sub-topology {names}, which has no tasks"
    ),
    "changelog_undecided": _undecided,
    "changelog_left_out": _left_out,
    "changelog_fits_nothing": lambda f: (
        f"changelog {subjects(f)} has {f.partitions} partitions, as no sub-topology has tasks"
    ),
    "changelogs_unknown": "sub-topology {every} has stores whose changelogs are not known",
    # remarks about a placement
    "racks_taken_for_tag": (
        "standbys are kept on different racks, as KIP-925 promised; Kafka itself does not do this without"
        " rack.aware.assignment.tags=rack and client.tag.rack on every client"
    ),
    "tags_instead_of_racks": (
        "standbys follow rack.aware.assignment.tags, so racks are not used as a tag"
    ),
    "racks_not_taken_for_tag": f"racks are not used as a tag: {_CLIENTS}no rack",
    "rack_not_among_tags": (
        "client.rack is set but 'rack' is not among rack.aware.assignment.tags ({every}): standbys follow"
        " only the tags"
    ),
    "tag_differs_from_rack": (
        f"{_CLIENTS}another client.tag.rack than client.rack: standbys follow the tag"
    ),
    "standby_swaps_cut_off": (
        "standbys were swapped in {after} rounds, as in Kafka; more swaps may help"
    ),
    "too_few_clients_for_standbys": _few_clients,
    "copies_not_apart": (
        "{count:task} ({names}) {has|have} copies on fewer values of {unit} than possible"
    ),
    # copies that run now, and settings that spread them
    "stores_lost_with_one_rack": (
        "{after} of {bound:store} ({names}) {has|have} all copies in one rack, and would be lost with it"
    ),
    "clients_in_one_rack": "all clients are in one rack: copies are apart once some run in another",
    "apart_as_configured": (
        "with its present configuration, the next rebalance leaves no store in one rack, once copies have caught up"
    ),
    "apart_by_tags": lambda f: (
        f"{_REPLAYED}rack.aware.assignment.tags={','.join(f.subjects)} and"
        f" {' and '.join(f'client.tag.{key}' for key in f.subjects)} on each instance"
    ),
    "apart_by_strategy": (
        "no store would have all copies in one rack with {first}: see the steps in its row"
    ),
    "apart_by_copies": f"{_REPLAYED}{{first}}={{after}}",
    "apart_by_nothing": (
        "no setting that was replayed (client tags, rack strategies, one copy more) would leave no store in one rack"
    ),
    "stores_without_copy": (
        "{count:store} ({names}) {has|have} no copy, though num.standby.replicas is {after}"
    ),
    "store_racks_unknown": (
        "not known if {count:store} ({names}) would be lost with one rack: the rack of a client with a copy is unknown"
        " (configure racks by client id or host)"
    ),
    "no_other_weights": (
        "exact: whatever the weights, no placement of tasks with state costs less (partitions that cross racks, tasks"
        " that leave Kafka's own placement) than those here and those left out. Not covered: placements that no weights"
        " reach, above the lower hull; tasks without state, whose costs are fixed; which of several placements of equal"
        " cost Kafka chooses, on which moves and stores depend"
    ),
    "points_left_out": (
        "{after:point} left out: another is as good in traffic, moves and stores, and better in one of them"
    ),
    "copies_on_own_client": (
        "{count:store} ({names}) {has|have} a copy on the client that runs the task"
    ),
    "offsets_unknown": (
        "{count:task} ({names}) {has|have} a client whose offsets are unknown: like Kafka, it counts as the furthest"
        " along"
    ),
}
