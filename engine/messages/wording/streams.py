"""What is said of Kafka Streams applications: why racks play no part, what was taken for what is not known."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from .clauses import Clause, subjects, those, whole

_IN_RULE = "say it in [rules.streams]"
"""What helps where the wire does not tell."""

_STRATEGY = "rack.aware.assignment.strategy"


def _those(noun: str, for_one: str, for_many: str, end: str) -> Clause:
    """The subjects with their verb, and what goes for all of them."""
    return lambda fact: f"{those(fact, noun, for_one, for_many)} {end}"


def _taken(why: str) -> Clause:
    return lambda fact: f"{_STRATEGY} is taken to be {subjects(fact)}, {why} ({_IN_RULE})"


def _reading(fact: Fact) -> str:
    return f"what {those(fact, 'task', 'reads', 'read')} is not known, and left out"


def _no_rack_as_tag(fact: Fact) -> str:
    return f"racks are not taken for a tag: {those(fact, 'client', 'has', 'have')} no rack"


def _no_tag(fact: Fact) -> str:
    return (
        "client.rack is set but 'rack' is not among rack.aware.assignment.tags"
        f" ({', '.join(fact.subjects)}): standbys follow the tags alone"
    )


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


def _tags(fact: Fact) -> str:
    return f"rack.aware.assignment.tags is taken to be {','.join(fact.subjects)}, all tags of the clients ({_IN_RULE})"


def _standbys(fact: Fact) -> str:
    now = "as many copies as every store has now"
    return f"num.standby.replicas is taken to be {whole(fact.after)}, {now} ({_IN_RULE})"


CLAUSES: Mapping[str, Clause] = {
    # why racks play no part
    "strategy_none": lambda _: "the strategy is none",
    "clients_without_rack": _those(
        "client", "has", "have", "no rack, or one that its members disagree on"
    ),
    "source_replicas_unknown": _those("source partition", "has", "have", "no known replicas"),
    "changelog_replicas_unknown": _those("changelog partition", "has", "have", "no known replicas"),
    "source_brokers_without_rack": _those(
        "source partition", "lies", "lie", "on a broker without rack"
    ),
    "changelog_brokers_without_rack": _those(
        "changelog partition", "lies", "lie", "on a broker without rack"
    ),
    "source_racks_unknown": _those(
        "source partition", "has", "have", "no replica whose rack is known"
    ),
    "changelog_racks_unknown": _those(
        "changelog partition", "has", "have", "no replica whose rack is known"
    ),
    "sticky_costs_not_configured": lambda _: (
        "the sticky task assignor looks at racks only where rack.aware.assignment.traffic_cost and non_overlap_cost are"
        " both configured"
    ),
    "equal_costs": lambda _: (
        "every task costs the same on every client: racks have nothing to gain"
    ),
    "broker_looks_at_no_rack": lambda _: "the broker looks at no rack",
    # what is not to the letter
    "stores_restored": _those(
        "task",
        "moves to a client without a copy of its stores and stands",
        "move to clients without a copy of their stores and stand",
        "still until these are restored; how long that takes is not known, and in no price",
    ),
    "standbys_dealt_in_any_order": lambda _: (
        "Kafka's sticky task assignor deals standbys in an order of its own each time: which client keeps which copy"
        " may differ, active tasks do not"
    ),
    # what was taken for what is not known
    "strategy_taken_as_seen": _taken("which gives exactly what the group has now"),
    "strategy_taken_by_default": _taken("Kafka's default"),
    "standbys_taken": _standbys,
    "tags_taken": _tags,
    "tasks_run_nowhere": _those("task", "runs", "run", "nowhere at the moment"),
    "tasks_read_unknown": _reading,
    "changelog_ends_unknown": _those(
        "changelog partition",
        "has",
        "have",
        "no known end: it counts as empty, so copies of it never warm up",
    ),
    "clients_in_several_racks": _those("client", "has", "have", "threads in several racks"),
    "clients_tell_no_rack": _those("client", "tells", "tell", "no rack; set client.rack"),
    "protocol_tells_no_rack": _those(
        "client",
        "tells",
        "tell",
        "no rack; the streams protocol tells none of them as yet: configure racks by client id or host",
    ),
    "changelogs_without_tasks": lambda f: (
        f"changelogs are configured for sub-topology {subjects(f)}, which has no tasks"
    ),
    "changelog_undecided": _undecided,
    "changelog_left_out": _left_out,
    "changelog_fits_nothing": lambda f: (
        f"changelog {subjects(f)} has {f.partitions} partitions, as no sub-topology has tasks"
    ),
    "changelogs_unknown": lambda f: (
        f"sub-topology {', '.join(f.subjects)} has stores whose changelogs are not known"
    ),
    # what is remarkable of a placement
    "racks_taken_for_tag": lambda _: (
        "standbys are kept on different racks, as KIP-925 promised; Kafka itself does not do this without"
        " rack.aware.assignment.tags=rack and client.tag.rack on every client"
    ),
    "tags_instead_of_racks": lambda _: (
        "standbys follow rack.aware.assignment.tags, so racks are not taken for a tag"
    ),
    "racks_not_taken_for_tag": _no_rack_as_tag,
    "rack_not_among_tags": _no_tag,
    "tag_differs_from_rack": _those(
        "client",
        "has",
        "have",
        "another client.tag.rack than client.rack: standbys follow the tag",
    ),
    "standby_swaps_cut_off": lambda f: (
        f"standbys were swapped {whole(f.after)} times around, as in Kafka; more swaps may pay"
    ),
    "too_few_clients_for_standbys": _few_clients,
    "copies_not_apart": lambda f: (
        f"{those(f, 'task', 'has', 'have')} copies on fewer values of {f.unit} than possible"
    ),
    "offsets_unknown": _those(
        "task",
        "has",
        "have",
        "a client whose offsets are unknown: like Kafka, it counts as the furthest along",
    ),
}
"""Each measure in words."""
