"""
Random groups for Hypothesis: those that `evenkeel check-assignor` asks about, in the shape that a test wants.

A group is drawn by its number, as `evenkeel.engine.assignors.promises` does it: racks, static members, odd
subscriptions, a past that may be wrong, lags and rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from evenkeel.engine.assignors.interface import GroupSpec
from evenkeel.engine.assignors.promises import Sketch, sketches
from evenkeel.engine.assignors.promises.sketch import PartitionSketch, TopicSketch

RACKS = ("rack-a", "rack-b", "rack-c")

UNUSUAL = {"t2": "\uffee", "t10": "\U0001f600", "b": "\uffee", "a": "\U0001f600"}
"""Names whose order depends on UTF-16."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """
    What kind of groups to make.

    Attributes:
        alike: All members subscribe to every topic.
        together: So they do, and topics are of one size.
        racked: All racks are known.
        sound: What members say to own is there, and nobody else's.
        rates: Whether arrivals may be known.
    """

    most_members: int = 8
    most_topics: int = 5
    most_partitions: int = 7
    fewest_members: int = 0
    alike: bool = False
    together: bool = False
    racked: bool = False
    sound: bool = False
    rates: bool = True


def groups(shape: Shape = Shape()) -> st.SearchStrategy[GroupSpec]:
    """Any group a broker could describe, and some it could not."""
    sketched = st.builds(
        lambda number, members, topics: _shaped(
            next(sketches(1, seed=number)), shape, number, members, topics
        ),
        st.integers(0, 1 << 32),
        st.integers(shape.fewest_members, shape.most_members) | st.just(shape.most_members),
        st.integers(0, shape.most_topics) | st.just(shape.most_topics),
    )
    enough = sketched.filter(lambda one: len(one.members) >= shape.fewest_members)
    return enough.map(Sketch.spec)


def _shaped(one: Sketch, shape: Shape, number: int, members: int, topics: int) -> Sketch:
    """At most so many members and topics of a group, as the shape wants them."""
    kept = [
        replace(topic, partitions=topic.partitions[: shape.most_partitions])
        for topic in one.topics[:topics]
    ]
    if shape.together:
        size = min((len(topic.partitions) for topic in kept), default=0)
        kept = [replace(topic, partitions=topic.partitions[:size]) for topic in kept]
    kept = [replace(topic, partitions=tuple(_partitions(topic, shape, number))) for topic in kept]
    cut = _pairs(one.topics) - _pairs(kept)
    some = []
    free = _pairs(kept)
    for place, member in enumerate(one.members[:members]):
        owned = tuple(pair for pair in member.owned if pair not in cut)
        if shape.sound:
            owned = tuple(pair for pair in owned if pair in free)
            free -= {*owned}
        everything = tuple(topic.name for topic in kept)
        rack = member.rack or (_rack(number + place) if shape.racked else None)
        listed = everything if shape.alike or shape.together else member.topics
        some.append(replace(member, topics=listed, rack=rack, owned=owned))
    made = Sketch(topics=tuple(kept), members=tuple(some))
    return _renamed(made) if number % 2 else made


def _partitions(topic: TopicSketch, shape: Shape, number: int) -> Iterator[PartitionSketch]:
    for place, one in enumerate(topic.partitions):
        racks = tuple(rack or RACKS[0] for rack in one.racks) or (_rack(number + place),)
        rate = one.rate if shape.rates else None
        yield replace(one, racks=racks if shape.racked else one.racks, rate=rate)


def _rack(number: int) -> str:
    return RACKS[number % len(RACKS)]


def _pairs(topics: Iterable[TopicSketch]) -> set[tuple[str, int]]:
    return {(topic.name, number) for topic in topics for number in range(len(topic.partitions))}


def _renamed(one: Sketch) -> Sketch:
    """The same group with unusual names."""

    def new(name: str) -> str:
        return UNUSUAL.get(name, name)

    return Sketch(
        topics=tuple(replace(topic, name=new(topic.name)) for topic in one.topics),
        members=tuple(
            replace(
                member,
                id=new(member.id),
                topics=tuple(map(new, member.topics)),
                owned=tuple((new(topic), number) for topic, number in member.owned),
            )
            for member in one.members
        ),
    )
