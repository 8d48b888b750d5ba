"""What is said of Kafka Streams applications: why racks play no part, what was taken for what is not known."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from .clauses import Clause, subjects, whole

_TAKEN = "rack.aware.assignment.strategy is taken to be {names}, "
_IN_RULE = "(say it in [rules.streams])"
"""What helps where the wire does not tell."""

_CLIENTS = "{count:client} ({names}) {has|have} "
_SOURCES = "{count:source partition} ({names}) {has|have} "
_CHANGELOGS = "{count:changelog partition} ({names}) {has|have} "
_REPLAYED = "no store would have all copies in one rack with "
"""What a cure that was replayed brings."""

_TELL_NO_RACK = "{count:client} ({names}) {tells|tell} no rack; "


def _undecided(fact: Fact) -> str:
    topic, *likely = fact.subjects
    return (
        f"changelog {topic} belongs to sub-topology {' or '.join(likely)}, which is not on the wire: all of them count"
        " as stateful, and its racks and offsets are left out (name it in changelogs of [rules.streams])"
    )


def _left_out(fact: Fact) -> str:
    topic, *sized = fact.subjects
    return f"changelog {topic} is left out, because others are configured for sub-topology {' and '.join(sized)}"


def _few_clients(fact: Fact) -> str:
    clients = whole(fact.after)
    return f"{whole(fact.bound)} standbys are configured, and with {clients} clients a task can have {clients - 1}"


CLAUSES: Mapping[str, Clause] = {
    # why racks play no part
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
        "the sticky task assignor looks at racks only where rack.aware.assignment.traffic_cost and non_overlap_cost are"
        " both configured"
    ),
    "equal_costs": "every task costs the same on every client: racks have nothing to gain",
    "broker_looks_at_no_rack": "the broker looks at no rack",
    # what is not to the letter
    "stores_restored": (
        "{count:task} ({names}) {moves to a client without a copy of its stores and stands"
        "|move to clients without a copy of their stores and stand} still until these are restored; how long that takes"
        " is not known, and in no price"
    ),
    "standbys_dealt_in_any_order": (
        "Kafka's sticky task assignor deals standbys in an order of its own each time: which client keeps which copy"
        " may differ, active tasks do not"
    ),
    # what was taken for what is not known
    "strategy_taken_as_seen": (f"{_TAKEN}which gives exactly what the group has now {_IN_RULE}"),
    "strategy_taken_by_default": f"{_TAKEN}Kafka's default {_IN_RULE}",
    "standbys_taken": (
        f"num.standby.replicas is taken to be {{after}}, as many copies as every store has now {_IN_RULE}"
    ),
    "tags_taken": lambda f: (
        f"rack.aware.assignment.tags is taken to be {','.join(f.subjects)}, all tags of the clients {_IN_RULE}"
    ),
    "tasks_run_nowhere": "{count:task} ({names}) {runs|run} nowhere at the moment",
    "tasks_read_unknown": "what {count:task} ({names}) {reads|read} is not known, and left out",
    "changelog_ends_unknown": (
        f"{_CHANGELOGS}no known end: it counts as empty, so copies of it never warm up"
    ),
    "clients_in_several_racks": f"{_CLIENTS}threads in several racks",
    "racks_known_by_rule": (
        "the rack of {count:client} ({names}) is known from racks of a rule alone: what crosses racks is measured by"
        " it, Kafka sees no client.rack"
    ),
    "racks_switched_off": (
        "rack-aware assignment is off for all {bound:client} (KIP-925): {after:client sends|send} no client.rack"
        " ({names}), and one without is enough; set it there"
    ),
    "client_rack_first": "after client.rack is set on {count:client} ({names})",
    "clients_tell_no_rack": f"{_TELL_NO_RACK}set client.rack",
    "protocol_tells_no_rack": (
        f"{_TELL_NO_RACK}set client.rack of Kafka Streams (the broker is not told consumer.client.rack), or configure"
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
    # what is remarkable of a placement
    "racks_taken_for_tag": (
        "standbys are kept on different racks, as KIP-925 promised; Kafka itself does not do this without"
        " rack.aware.assignment.tags=rack and client.tag.rack on every client"
    ),
    "tags_instead_of_racks": (
        "standbys follow rack.aware.assignment.tags, so racks are not taken for a tag"
    ),
    "racks_not_taken_for_tag": f"racks are not taken for a tag: {_CLIENTS}no rack",
    "rack_not_among_tags": (
        "client.rack is set but 'rack' is not among rack.aware.assignment.tags ({every}): standbys follow the tags"
        " alone"
    ),
    "tag_differs_from_rack": (
        f"{_CLIENTS}another client.tag.rack than client.rack: standbys follow the tag"
    ),
    "standby_swaps_cut_off": (
        "standbys were swapped {after} times around, as in Kafka; more swaps may pay"
    ),
    "too_few_clients_for_standbys": _few_clients,
    "copies_not_apart": (
        "{count:task} ({names}) {has|have} copies on fewer values of {unit} than possible"
    ),
    # what is found of copies that run now, and what brings them apart
    "stores_lost_with_one_rack": (
        "{after} of {bound:store} ({names}) {has|have} all copies in one rack, and would be lost with it"
    ),
    "clients_in_one_rack": "all clients stand in one rack: copies are apart once some run in another",
    "apart_as_configured": (
        "as it is configured, its next rebalance leaves no store in one rack, once copies have caught up"
    ),
    "apart_by_tags": lambda f: (
        f"{_REPLAYED}rack.aware.assignment.tags={','.join(f.subjects)} and"
        f" {' and '.join(f'client.tag.{key}' for key in f.subjects)} on each instance"
    ),
    "apart_by_strategy": (
        "no store would have all copies in one rack under {first}, whose row says how that is had"
    ),
    "apart_by_copies": f"{_REPLAYED}{{first}}={{after}}",
    "apart_by_nothing": (
        "no setting that was replayed (client tags, rack strategies, one copy more) would leave no store in one rack"
    ),
    "stores_without_copy": (
        "{count:store} ({names}) {has|have} no copy, though num.standby.replicas is {after}"
    ),
    "store_racks_unknown": (
        "whether {count:store} ({names}) would be lost with one rack is not known: the rack of a client with a copy is"
        " not (configure racks by client id or host)"
    ),
    "no_other_weights": (
        "exact: whatever the weights, no placement of tasks with state costs less (partitions that cross racks, tasks"
        " that leave Kafka's own dealing) than those here and those left out. Not covered: placements that no weights"
        " reach, above the lower hull; tasks without state, whose costs are fixed; which of several placements of equal"
        " cost Kafka takes, on which moves from now and stores hang"
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
