"""
The smallest group that still shows something: cut, look again, keep the cut if it still shows.

Big cuts first (half of the members, a whole topic), then ever smaller ones, down to a single lag; after each
that holds all are tried again. The work is counted in looks, not in seconds, so that the same start gives the
same end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

from .sketch import MemberSketch, PartitionSketch, Sketch, TopicSketch

T = TypeVar("T")
Seen = TypeVar("Seen")

_FEW = 8

LOOKS = 2_000
"""How often one fault is looked for at most."""


def shrink(
    sketch: Sketch, seen: Seen, shows: Callable[[Sketch], Seen | None], looks: int = LOOKS
) -> tuple[Sketch, Seen]:
    """
    A group that cannot be cut any further without losing what it shows, and what was seen there.

    Args:
        sketch: A group that shows it.
        seen: What was seen there.
        shows: What is seen in a group; None where it does not show.
        looks: How often to look at most.

    >>> from evenkeel.engine.assignors.promises.groups import sketches
    >>> def many(sketch):
    ...     return len(sketch.members) if len(sketch.members) > 1 else None
    >>> large = next(s for s in sketches(99) if many(s))
    >>> small, seen = shrink(large, many(large), many)
    >>> seen, small.size, small.topics
    (2, 2, ())
    """
    cutting = True
    while cutting:
        cutting = False
        for smaller in _smaller(sketch):
            if looks == 0:
                return sketch, seen
            looks -= 1
            found = shows(smaller)
            if found is not None:
                sketch, seen, cutting = smaller, found, True
                break
    return sketch, seen


def _smaller(sketch: Sketch) -> Iterator[Sketch]:
    """Every way to cut a group a little, the big cuts first."""
    for members in _fewer(sketch.members):
        yield replace(sketch, members=members)
    for topics in _fewer(sketch.topics):
        yield _without_topics(sketch, topics)
    yield from _fewer_partitions(sketch)
    for place, member in enumerate(sketch.members):
        for less in _less_of_member(member):
            yield replace(sketch, members=_put(sketch.members, place, less))
    for place, topic in enumerate(sketch.topics):
        for plain in _plainer_topic(topic):
            yield replace(sketch, topics=_put(sketch.topics, place, plain))
    for topics in _fewer(sketch.topics):
        yield replace(sketch, topics=topics)  # still mentioned, as one that does not exist


def _fewer(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Either half, then all but one; of a few also all but two, because some faults want an even number."""
    half = len(items) // 2
    if half > 1:
        yield items[:half]
        yield items[half:]
    for place in range(len(items)):
        yield items[:place] + items[place + 1 :]
    if _FEW >= len(items) > 2:
        yield from combinations(items, len(items) - 2)


def _put(items: tuple[T, ...], place: int, item: T) -> tuple[T, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _without_topics(sketch: Sketch, topics: tuple[TopicSketch, ...]) -> Sketch:
    """Only these topics; nobody mentions the others any more."""
    left = {t.name for t in sketch.topics} - {t.name for t in topics}
    members = tuple(
        replace(
            member,
            topics=tuple(t for t in member.topics if t not in left),
            owned=tuple(pair for pair in member.owned if pair[0] not in left),
        )
        for member in sketch.members
    )
    return replace(sketch, topics=topics, members=members)


def _fewer_partitions(sketch: Sketch) -> Iterator[Sketch]:
    """All topics down to a size, then one with fewer."""
    for size in range(max((len(t.partitions) for t in sketch.topics), default=0)):
        yield _capped(sketch, size)
    for place, topic in enumerate(sketch.topics):
        yield from (_with_partitions(sketch, place, kept) for kept in _fewer(_numbers(topic)))


def _numbers(topic: TopicSketch) -> tuple[int, ...]:
    return tuple(range(len(topic.partitions)))


def _capped(sketch: Sketch, size: int) -> Sketch:
    """No topic with more partitions than *size*."""
    for place, topic in enumerate(sketch.topics):
        sketch = _with_partitions(sketch, place, _numbers(topic)[:size])
    return sketch


def _with_partitions(sketch: Sketch, at: int, kept: tuple[int, ...]) -> Sketch:
    """A topic with these of its partitions only, numbered anew, also in what members own."""
    topic = sketch.topics[at]
    size = len(topic.partitions)
    number = {(topic.name, old): (topic.name, new) for new, old in enumerate(kept)}
    members = []
    for member in sketch.members:
        owned = []
        for name, old in member.owned:
            beyond = name != topic.name or old >= size  # stays as far beyond the end as it was
            shift = size - len(kept) if name == topic.name else 0
            pair = (name, old - shift) if beyond else number.get((name, old))
            owned += [pair] if pair else []
        members.append(replace(member, owned=tuple(owned)))
    less = replace(topic, partitions=tuple(topic.partitions[n] for n in kept))
    return replace(sketch, topics=_put(sketch.topics, at, less), members=tuple(members))


def _less_of_member(member: MemberSketch) -> Iterator[MemberSketch]:
    """The member with less to say."""
    if member.owned:
        yield replace(member, owned=(), generation=None, in_user_data=False)
    for topics in _fewer(member.topics):
        yield replace(member, topics=topics)
    for owned in _fewer(member.owned):
        yield replace(member, owned=owned)
    plain: dict[str, Any] = {
        "generation": None,
        "in_user_data": False,
        "instance_id": None,
        "rack": None,
    }
    for name, value in plain.items():
        if getattr(member, name) != value:
            yield replace(member, **{name: value})
    for name in member.sent or ():
        yield replace(member, sent={k: v for k, v in (member.sent or {}).items() if k != name})
    for name in member.config:
        yield replace(member, config={k: v for k, v in member.config.items() if k != name})


def _plainer_topic(topic: TopicSketch) -> Iterator[TopicSketch]:
    """The topic with less to know, of itself and all its partitions, then of one of these."""
    if topic.id is not None:
        yield replace(topic, id=None)
    nothing: dict[str, Any] = {"racks": (), "lag": None, "rate": None}
    for name, plain in nothing.items():
        if any(getattr(p, name) != plain for p in topic.partitions):
            all_plain = tuple(replace(p, **{name: plain}) for p in topic.partitions)
            yield replace(topic, partitions=all_plain)
    lagging = any(p.lag is not None for p in topic.partitions)
    for number, partition in enumerate(topic.partitions):
        for plainer in _plainer(partition, lagging):
            yield replace(topic, partitions=_put(topic.partitions, number, plainer))


def _plainer(partition: PartitionSketch, lagging: bool) -> Iterator[PartitionSketch]:
    """The partition with less to know; an unknown lag beside known ones says more than one of 0."""
    for racks in _fewer(partition.racks):
        yield replace(partition, racks=racks)
    if partition.lag is None and lagging:
        yield replace(partition, lag=0)
    lag = partition.lag or 0
    for less in (
        lag >> bit for bit in range(lag.bit_length())
    ):  # to 0, then half the way, down to one less
        yield replace(partition, lag=lag - less)
