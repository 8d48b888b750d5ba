"""
The names of one strategy: ours, the one on the wire, and those that clients' settings use.

Members list protocols by wire name; Java's `partition.assignment.strategy` holds classes instead,
librdkafka's wire names, kafka-python's classes of its own. A name that is none of these stays as it
is: the class of somebody's own strategy, whose name on the wire only that class knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ...followers.plan import NAME as PLAN
from ...model.errors import InputError
from ...model.states import STREAMS_PROTOCOL, GroupType

CLIENT_SETTING = "partition.assignment.strategy"
SERVER_SETTING = "group.remote.assignor"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSide:
    """
    A strategy that members of classic groups can list.

    Attributes:
        wire: Its name on the wire.
        strategy: Our name.
        java: Its Java class.
        python: Its class in kafka-python, if it has one.
        cooperative: Whether its members keep what they own while the group rebalances (KIP-429).
        stock: Whether Kafka's own client has the class; if not, it must be shipped.
        librdkafka: Whether librdkafka has it.
        beside_eager: Whether other clients than Java's take it in one list with eager ones, though it is cooperative.
        others: Other authors' Java classes of that name on the wire, which answer the same.
    """

    wire: str
    strategy: str
    java: str
    python: str | None = None
    cooperative: bool = False
    stock: bool = True
    librdkafka: bool = False
    beside_eager: bool = False
    others: tuple[str, ...] = ()


_JAVA = "org.apache.kafka.clients.consumer."
_PYTHON = "kafka.coordinator.assignors."
_KNOWN = (
    ClientSide(
        wire="range",
        strategy="range",
        java=f"{_JAVA}RangeAssignor",
        python=f"{_PYTHON}range.RangePartitionAssignor",
        librdkafka=True,
    ),
    ClientSide(
        wire="roundrobin",
        strategy="roundrobin",
        java=f"{_JAVA}RoundRobinAssignor",
        python=f"{_PYTHON}roundrobin.RoundRobinPartitionAssignor",
        librdkafka=True,
    ),
    ClientSide(
        wire="sticky",
        strategy="sticky",
        java=f"{_JAVA}StickyAssignor",
        python=f"{_PYTHON}sticky.sticky_assignor.StickyPartitionAssignor",
    ),
    ClientSide(
        wire="cooperative-sticky",
        strategy="cooperative-sticky",
        java=f"{_JAVA}CooperativeStickyAssignor",
        python=f"{_PYTHON}cooperative_sticky.CooperativeStickyAssignor",
        cooperative=True,
        librdkafka=True,
    ),
    ClientSide(
        wire="fair",
        strategy="fair",
        java="io.evenkeel.EvenkeelFairAssignor",
        others=("com.cerner.common.kafka.consumer.assignors.FairAssignor",),
        stock=False,
    ),
    ClientSide(
        wire="lag",
        strategy="lag-aware",
        java="io.evenkeel.EvenkeelLagAwareAssignor",
        others=("com.github.grantneale.kafka.LagBasedPartitionAssignor",),
        stock=False,
    ),
    ClientSide(
        wire=PLAN,
        strategy=PLAN,
        java="io.evenkeel.EvenkeelPlanAssignor",
        python="evenkeel.engine.followers.kafka_python.PlanAssignor",
        cooperative=True,
        stock=False,
        beside_eager=True,
    ),
)

CLIENT_SIDE: Mapping[str, ClientSide] = MappingProxyType({known.wire: known for known in _KNOWN})
"""Client-side strategies by wire name."""

BY_RACKS = "evenkeel-racks"
"""Our assignor for brokers, as `group.remote.assignor` calls it: racks decide what no plan says."""

SERVER_SIDE: Mapping[str, str] = MappingProxyType(
    {"uniform": "uniform", "range-server": "range", "racks-server": BY_RACKS}
)
"""Server-side strategies (KIP-848) by our name, and what `group.remote.assignor` calls them."""

BROKER_SETTING = "group.consumer.assignors"

BROKER_CLASS = "io.evenkeel.EvenkeelServerAssignor"

_BROKER_CLASSES = {
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
    BROKER_CLASS: BY_RACKS,
}


def _aliases() -> dict[str, str]:
    wire_of = {
        "org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor": STREAMS_PROTOCOL
    }
    for known in _KNOWN:
        ours = (known.java, known.python, *known.others)
        classes = [name for name in ours if name is not None]
        names = [known.strategy, *classes, *(name.rsplit(".", 1)[1] for name in classes)]
        wire_of |= dict.fromkeys(names, known.wire)
    return wire_of


_WIRE = _aliases()


RACK_SETTING = "client.rack"
"""Where a client is, as it tells its group's leader and its brokers."""

_AND_RACKS = f"+{RACK_SETTING}"


def with_racks(strategy: str) -> str:
    """
    What a rack-aware strategy is called as it would be once every member sends its rack.

    >>> with_racks("range"), base_of(with_racks("range")), base_of("range")
    ('range+client.rack', 'range', 'range')
    """
    return f"{strategy}{_AND_RACKS}"


def base_of(strategy: str) -> str:
    """The strategy itself, of one that may be `with_racks`."""
    return strategy.removesuffix(_AND_RACKS)


def wire_name(name: str) -> str:
    """
    What a listed strategy is called on the wire: classes, with package or without, and our own
    names are understood, `with_racks` too.

    >>> wire_name("org.apache.kafka.clients.consumer.RangeAssignor"), wire_name("StickyAssignor")
    ('range', 'sticky')
    >>> wire_name("lag-aware"), wire_name("LagBasedPartitionAssignor"), wire_name("com.acme.RangeAssignor")
    ('lag', 'lag', 'com.acme.RangeAssignor')
    """
    trimmed = base_of(name.strip())
    return _WIRE.get(trimmed, trimmed)


def wire_names(listed: Iterable[str]) -> tuple[str, ...]:
    """
    A member's list by wire names, most preferred first.

    Raises:
        InputError: A name is empty, or one strategy is listed twice, which no client does.

    >>> wire_names(["RangeAssignor", "cooperative-sticky"])
    ('range', 'cooperative-sticky')
    """
    names = tuple(wire_name(name) for name in listed)
    if "" in names:
        raise InputError(
            "a list of strategies holds an empty name.", fix="Write for example range,roundrobin."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{twice!r} is listed twice.", fix="List each strategy once.")
    return names


def broker_names(setting: str) -> tuple[str, ...]:
    """
    What members can ask for of a broker with this `group.consumer.assignors`; a class whose name is not known stays.

    >>> broker_names("io.evenkeel.EvenkeelServerAssignor, uniform,com.acme.Own")
    ('evenkeel-racks', 'uniform', 'com.acme.Own')
    """
    listed = (name.strip() for name in setting.split(","))
    return tuple(_BROKER_CLASSES.get(name, name) for name in listed if name)


_BY_BROKERS_NAME = {theirs: ours for ours, theirs in SERVER_SIDE.items()}


def strategy_of(group_type: GroupType, wire: str) -> str | None:
    """
    Our name of what a group runs; None where it is not emulated.

    >>> strategy_of(GroupType.CLASSIC, "range"), strategy_of(GroupType.CONSUMER, "range")
    ('range', 'range-server')
    >>> strategy_of(GroupType.CLASSIC, "acme") is None
    True
    """
    if group_type is GroupType.CONSUMER:
        return _BY_BROKERS_NAME.get(wire)
    known = CLIENT_SIDE.get(wire) if group_type is GroupType.CLASSIC else None
    return known.strategy if known else None


def java_class(wire: str) -> str:
    """
    What Java's `partition.assignment.strategy` calls a strategy; a placeholder where only its
    owner knows the class.

    >>> java_class("fair"), java_class("acme"), java_class("com.acme.Own")
    ('io.evenkeel.EvenkeelFairAssignor', '<class of acme>', 'com.acme.Own')
    >>> java_class("lag") == java_class("lag-aware")
    True
    """
    known = CLIENT_SIDE.get(wire_name(wire))
    if known:
        return known.java
    return wire if "." in wire else f"<class of {wire}>"


def setting(listed: Iterable[str]) -> str:
    """
    A list of wire names as a Java client's setting.

    >>> setting(["sticky", "acme"])
    'partition.assignment.strategy=org.apache.kafka.clients.consumer.StickyAssignor,<class of acme>'
    """
    return f"{CLIENT_SETTING}={','.join(map(java_class, listed))}"


def mixed(listed: Iterable[str]) -> bool:
    """
    Whether a list holds both eager and cooperative strategies, which librdkafka and kafka-python refuse.

    >>> mixed(["cooperative-sticky", "range"]), mixed(["evenkeel-plan", "range"]), mixed(["range", "acme"])
    (True, False, False)
    """
    counted = [n for n in listed if not ((known := CLIENT_SIDE.get(n)) and known.beside_eager)]
    return {cooperative([name]) for name in counted} >= {True, False}


def cooperative(listed: Iterable[str]) -> bool | None:
    """
    Whether a Java member with this list rebalances cooperatively: it does what *all* of its list
    can do. None where a strategy in it is not known, and the others do not settle it.

    Source: `ConsumerCoordinator` of Kafka 4.3, KIP-429.

    >>> cooperative(["cooperative-sticky"]), cooperative(["cooperative-sticky", "range"])
    (True, False)
    """
    kinds = [known.cooperative if (known := CLIENT_SIDE.get(n)) else None for n in listed]
    if False in kinds:
        return False
    return None if None in kinds else True
