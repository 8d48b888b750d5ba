"""
Random groups in the format of cases, made from a seed: as brokers see them, and some that are broken.

`fresh` makes a group, `follow_up` lets time pass over one that was answered: members join, leave or
miss a rebalance, partitions are added, topics vanish. So most pasts are what Kafka itself gave.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

Case = dict[str, Any]
Member = dict[str, Any]
Pair = list[Any]

SERVER_SIDE = frozenset({"uniform", "range-server", "racks-server"})
ALIKE = ("Aa", "BB", "AaAa", "AaBB", "BBAa", "BBBB")
"""Names that share a Java hash with others of their length."""
UNUSUAL = ("\u00e9t\u00e9", "\uffee", "\U0001f600", "Z", "a", "_", "10", "9", "-")
"""Names whose order depends on UTF-16, or is not that of a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a group can get; *partitions* per topic, *weight* how often this size is drawn."""

    members: int
    topics: int
    partitions: int
    weight: int


SIZES = (
    Size(members=4, topics=4, partitions=5, weight=40),
    Size(members=16, topics=15, partitions=9, weight=32),
    Size(members=8, topics=30, partitions=4, weight=10),
    Size(members=60, topics=12, partitions=33, weight=18),
)


def fresh(strategy: str, random: Random) -> Case:
    """A group that nobody has asked about, with a past or without."""
    size = random.choices(SIZES, [s.weight for s in SIZES])[0]
    racks = [f"eu-west-1{r}" for r in "abcde"[: random.randint(2, 5)]] if _often(random) else []
    case: Case = {"strategy": strategy, "topics": {}, "members": []}
    for name in _topic_names(random, size.topics):
        _add_topic(case, name, random, size, racks)
    if racks and random.random() < 0.1:
        _same_replicas_everywhere(case, random, racks)
    static = random.choice([0, 0, 0, 0.5, 1])
    for name in _member_names(random, random.randint(1, size.members)):
        _add_member(case, name, random, racks, static)
    _subscribe(case, random)
    if random.random() < 0.01:
        case["members"] = []
    if random.random() < 0.3:
        _remember(case, _dealt(case), 1)
        _change(case, random)
    if random.random() < 0.2:
        _disturb(case, random)
    return _finished(case, random)


def follow_up(case: Mapping[str, Any], answer: Mapping[str, Any], random: Random) -> Case:
    """The group some time after it got this answer."""
    after: Case = copy.deepcopy(dict(case))
    generations = [m["generation"] or 0 for m in case["members"]]
    late = random.choice([0, 0, 0, 0.2])  # who missed this rebalance still tells of the last
    if case["strategy"] in SERVER_SIDE and random.random() < 0.9:
        late = 0  # a coordinator forgets nothing
    lists = {m: owned for m, owned in answer["assignment"].items() if random.random() >= late}
    _remember(after, lists, max(generations, default=0) + 1)
    _change(after, random)
    if random.random() < 0.15:
        _disturb(after, random)
    return _finished(after, random)


def _often(random: Random) -> bool:
    return random.random() < 0.5


def _topic_names(random: Random, most: int) -> list[str]:
    count = random.choice([random.randint(1, most), random.randint(1, most), min(most, 12)])
    pool = [
        *ALIKE,
        "orders",
        "payments",
        "user.profile.changes",
        *(f"topic-{n}" for n in range(60)),
    ]
    return random.sample(pool, count)


def _member_names(random: Random, count: int) -> list[str]:
    kind = random.random()
    if kind < 0.6:
        return [f"consumer-app-{n + 1}-{_uuid(random)}" for n in range(count)]
    if kind < 0.9:
        return [f"c{n}" for n in random.sample(range(120), count)]
    pool = [*ALIKE, *UNUSUAL, *(f"m-{n}" for n in range(60))]
    return random.sample(pool, count)


def _uuid(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def _add_topic(case: Case, name: str, random: Random, size: Size, racks: Sequence[str]) -> None:
    alike = [len(t["partitions"]) for t in case["topics"].values()]
    count = random.choice(alike) if alike and _often(random) else random.randint(0, size.partitions)
    partitions = [_replicas(random, racks) for _ in range(count)]
    if alike and _often(random):  # as of one creation: co-partitioned topics on the same racks
        like = random.choice(list(case["topics"].values()))["partitions"]
        partitions = [list(r) for r in like[:count]] + partitions[len(like) :]
    topic: dict[str, Any] = {"partitions": partitions}
    if case["strategy"] in SERVER_SIDE:
        topic["id"] = _uuid(random)
    case["topics"][name] = topic


def _replicas(random: Random, racks: Sequence[str]) -> list[str | None]:
    """Racks of one partition's replicas; seldom unknown, seldom on a broker without a rack."""
    if not racks or random.random() < 0.03:
        return []
    if random.random() < 0.05:
        return [random.choice([*racks, None]) for _ in range(3)]
    return list(random.sample(racks, random.randint(1, min(3, len(racks)))))


def _same_replicas_everywhere(case: Case, random: Random, racks: Sequence[str]) -> None:
    same = _replicas(random, racks)
    for topic in case["topics"].values():
        topic["partitions"] = [list(same) for _ in topic["partitions"]]


def _add_member(
    case: Case, name: str, random: Random, racks: Sequence[str], static: float
) -> Member:
    rack = random.choice([*racks * 3, None, "", "elsewhere"]) if racks else None
    instance = f"host-{random.getrandbits(40):x}" if random.random() < static else None
    member: Member = {
        "id": name,
        "topics": [],
        "instance_id": instance,
        "rack": rack,
        "owned": [],
        "generation": None,
        "user_data": None,
    }
    case["members"].append(member)
    return member


def _subscribe(case: Case, random: Random) -> None:
    """All alike, all alike but one, a few kinds, overlapping windows, or each as it likes."""
    topics = list(case["topics"])
    absent = ["not-there", "gone"] if random.random() < 0.15 else []
    members = case["members"]
    kind = random.choice(["alike", "alike", "alike", "but one", "kinds", "windows", "any"])
    kinds = [_some(random, topics + absent) for _ in range(random.randint(2, 5))]
    for place, member in enumerate(members):
        if kind in ("alike", "but one"):
            chosen = topics + absent
        elif kind == "kinds":
            chosen = random.choice(kinds)
        elif kind == "windows":
            chosen = (topics * 2)[place % len(topics) :][: 1 + len(topics) // 2]
        else:
            chosen = _some(random, topics + absent)
        member["topics"] = _shuffled(random, chosen)
    if kind == "but one" and members:
        random.choice(members)["topics"] = _some(random, topics + absent)
    if random.random() < 0.05 and members:
        random.choice(members)["topics"] = []
    if random.random() < 0.015 and members:
        once = random.choice(members)["topics"]
        once.extend(once[:1])


def _some(random: Random, topics: Sequence[str]) -> list[str]:
    return random.sample(topics, random.randint(0 if random.random() < 0.1 else 1, len(topics)))


def _shuffled(random: Random, values: Sequence[Any]) -> list[Any]:
    return random.sample(values, len(values))


def _dealt(case: Case) -> dict[str, list[Pair]]:
    """A balanced past: each partition to the subscriber that has least."""
    lists: dict[str, list[Pair]] = {m["id"]: [] for m in case["members"]}
    for name, topic in case["topics"].items():
        who = [m["id"] for m in case["members"] if name in m["topics"]]
        for number in range(len(topic["partitions"]) if who else 0):
            lists[min(who, key=lambda m: len(lists[m]))].append([name, number])
    return lists


def _remember(case: Case, lists: Mapping[str, Sequence[Pair]], generation: int) -> None:
    """Members tell of this past in the way of the strategy; those without a list tell what they told."""
    for member in case["members"]:
        if member["id"] in lists:
            tell(case["strategy"], member, lists[member["id"]], generation)


def tell(strategy: str, member: Member, owned: Sequence[Pair], generation: int) -> None:
    """Let a member say that it owns these since that generation, in the way of its strategy's members."""
    pairs = [list(pair) for pair in owned]
    if strategy == "sticky":
        by_topic: dict[str, list[Pair]] = {}
        for pair in pairs:
            by_topic.setdefault(pair[0], []).append(pair)
        grouped = [pair for run in by_topic.values() for pair in run]
        member["user_data"] = {"owned": grouped, "generation": generation}
        member["generation"] = generation
        return
    member["owned"] = pairs
    if strategy not in SERVER_SIDE:
        member["generation"] = generation
    if strategy == "cooperative-sticky":
        member["user_data"] = {"generation": generation}


def _change(case: Case, random: Random) -> None:
    """What happens between two rebalances: nothing, or some of these."""
    for change in (_leave, _join, _resize, _delete, _subscribe_anew, _move_house, _restart):
        if random.random() < 0.25:
            change(case, random)


def _leave(case: Case, random: Random) -> None:
    leaving = random.choice([1, 1, 1, len(case["members"]) // 2])
    for _ in range(min(leaving, len(case["members"]) - 1)):
        case["members"].remove(random.choice(case["members"]))


def _join(case: Case, random: Random) -> None:
    """Some more; each subscribes as somebody else does and lives where somebody else does."""
    taken = {m["id"] for m in case["members"]}
    for name in _member_names(random, random.choice([1, 1, 2, 5])):
        if name in taken or not case["members"]:
            continue
        like = random.choice(case["members"])
        member = _add_member(case, name, random, [], 0)
        member["topics"], member["rack"] = list(like["topics"]), like["rack"]


def _resize(case: Case, random: Random) -> None:
    """A topic gets partitions; seldom it was made anew with fewer."""
    for topic in case["topics"].values():
        if topic["partitions"] and random.random() < 0.3:
            if random.random() < 0.15:
                del topic["partitions"][random.randrange(len(topic["partitions"])) :]
            else:
                topic["partitions"] += [list(r) for r in topic["partitions"][:2]]


def _delete(case: Case, random: Random) -> None:
    if len(case["topics"]) > 1:
        del case["topics"][random.choice(list(case["topics"]))]


def _subscribe_anew(case: Case, random: Random) -> None:
    if case["members"] and _often(random):
        member = random.choice(case["members"])
        member["topics"] = _some(random, list(case["topics"]))
    else:
        _subscribe(case, random)


def _move_house(case: Case, random: Random) -> None:
    racks = [m["rack"] for m in case["members"]]
    for member in case["members"]:
        member["rack"] = random.choice([member["rack"], random.choice(racks)])


def _restart(case: Case, random: Random) -> None:
    """A member comes back knowing nothing."""
    if case["members"]:
        random.choice(case["members"]).update(owned=[], generation=None, user_data=None)


def _disturb(case: Case, random: Random) -> None:
    """Pasts that should not be: double owners, stale or missing generations, partitions and topics that are gone."""
    members = case["members"]
    every = [[t, p] for t, topic in case["topics"].items() for p in range(len(topic["partitions"]))]
    if case["strategy"] in SERVER_SIDE and _often(random):
        return
    for member in members:
        if random.random() < 0.3:
            owned = random.sample(every, random.randint(0, min(len(every), 12)))
            if random.random() < 0.1:
                owned.append([random.choice(list(case["topics"])), random.randrange(40)])
            if random.random() < 0.1:
                owned.append(["gone", 0])
            tell(case["strategy"], member, owned, random.randrange(4))
        if random.random() < 0.2:
            member["generation"] = random.choice([None, None, -1, 0, 1, 2, 3])
        if member["user_data"] and random.random() < 0.2:
            member["user_data"]["generation"] = random.choice([None, -1, 0, 1, 2, 3])
        if random.random() < 0.05:
            member["user_data"] = None


def _finished(case: Case, random: Random) -> Case:
    """Members in any order; lags, and what is said of subscriptions, where the case's strategy wants them."""
    case["members"] = _shuffled(random, case["members"])
    if case["strategy"] == "lag-aware":
        most = random.choice([0, 1, 3, 1_000, 1 << 40])  # few values: many are equal
        for topic in case["topics"].values():
            topic["lags"] = [random.randint(0, most) for _ in topic["partitions"]]
    if case["strategy"] in SERVER_SIDE:
        alike = len({frozenset(m["topics"]) for m in case["members"]}) <= 1
        case["subscription_type"] = "homogeneous" if alike else "heterogeneous"
        for member in case["members"]:
            member.update(generation=None, user_data=None)
    return case
