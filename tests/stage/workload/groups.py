"""What the workload consists of: the topics, and the groups with what each is there to show.

Names here are without the prefix that a run may put before them. Racks are written by their last
letter, as in ``"ab"`` for two replicas in rack-a and rack-b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["classic", "consumer", "empty", "rebalancing", "share", "streams-classic", "streams"]
RACK_LETTERS = "abc"
# No rack lacks more than another, and every member's share of any even split crosses the same.
_ROTATED = ("ab", "bc", "ca")


@dataclass(frozen=True)
class TopicPlan:
    """A topic: the racks of each partition's replicas, records per second and records at first."""

    name: str
    replicas: tuple[str, ...]
    rates: tuple[float, ...]
    backlog: tuple[int, ...]
    record_bytes: int = 0
    """Least size of a record's value; it is filled up to it."""
    kept_bytes: int = 50_000_000
    """About what each replica of a partition keeps."""

    @property
    def partitions(self) -> int:
        """How many partitions it has."""
        return len(self.replicas)


@dataclass(frozen=True)
class GroupPlan:
    """A group: what it is for, who its members are and how they fall behind, if they do."""

    name: str
    purpose: str
    kind: Kind
    topics: tuple[str, ...]
    members: int
    owned: tuple[int, ...] = ()
    """Partitions per member once it has settled, largest first; empty where it is not watched."""
    assignor: str = "range"
    racks: bool = False
    static: bool = False
    commits: bool = True
    commit_seconds: float = 3.0
    """From one commit of a member to the next, about."""
    committed_share: float = 1.0
    """How much of the end offset is committed before the first member joins."""
    slow_member: int | None = None
    """Number (from 1) of the member that commits ``slow_share`` of what it reads."""
    slow_partition: int | None = None
    """The partition, of each topic, of which every member commits ``slow_share`` of what it reads."""
    slow_share: float = 0.3
    speed: int | None = None
    """Records a second that a member consumes at most; as many as there are where it is None."""
    crosses: bool = False
    """Whether it counts as settled only when reads cross racks."""
    follows: bool = False
    """Whether its members follow a plan; while there is none, its assignor decides."""

    @property
    def lags(self) -> bool:
        """Whether one member or partition is to fall behind the others."""
        return self.slow_member is not None or self.slow_partition is not None

    def committed_part(self, partition: int, partitions: int) -> float:
        """The share of a partition's end offset that is committed at first, from 0 to 1.

        The slow member's partitions are known beforehand: range gives them out in member order.
        """
        slow = partition == self.slow_partition
        if self.slow_member is not None:
            slow = partition * self.members // partitions == self.slow_member - 1
        return 0.1 if slow else self.committed_share


def _topic(
    name: str,
    replicas: tuple[str, ...],
    rate: float | tuple[float, ...],
    backlog: int | tuple[int, ...] = 60,
    **sizes: int,
) -> TopicPlan:
    count = len(replicas)
    rates = rate if isinstance(rate, tuple) else (rate,) * count
    backlogs = backlog if isinstance(backlog, tuple) else (backlog,) * count
    return TopicPlan(name, replicas, rates, backlogs, **sizes)


# The same keys in every topic, so what is busy in one is busy in all.
_BUSY_KEYS = (3.0, 0.25, 0.25, 0.25)
_BUSY_BACKLOG = (240, 20, 20, 20)

# About 46 records and 80 kB a second in all.
TOPICS = (
    _topic("invoices", ("ab", "ac", "bc", "ba", "ca", "cb"), 0.5),
    _topic("clicks", _ROTATED * 2, 1.0, backlog=200),
    _topic("sensors", _ROTATED * 2, (4.0, 0.2, 0.2, 0.2, 0.2, 0.2), (600, 40, 40, 40, 40, 40)),
    _topic("orders", _ROTATED * 4, 0.25),
    _topic("pay", _ROTATED * 2, 0.3),
    # Round robin gives partition i to member i mod 3: only 3 and 7 are in their member's rack, though
    # 4 local partitions for each could be had. Rack c holds fewer replicas than the others.
    _topic(
        "shipments",
        ("bc", "ca", "ab", "ab", "ca", "ab", "bc", "ab", "ab", "bc", "ca", "ab"),
        0.6,
        record_bytes=10_000,
        # a quarter of an hour: 0.1 GB on the three disks
        kept_bytes=4_000_000,
    ),
    *(
        _topic(name, (*_ROTATED, "ab"), _BUSY_KEYS, _BUSY_BACKLOG)
        for name in ("baskets", "payments", "visits")
    ),
    _topic("refunds", _ROTATED, 0.2),
    _topic("inventory", (*_ROTATED * 2, "ab"), 0.25),
    _topic("newsletters", (*_ROTATED, "ab"), 0.25),
    _topic("archive", (*_ROTATED, "ab"), 0.25, backlog=100),
    # few at once: a member gets what one write brought as a whole, and must do it while its lock lasts
    _topic("jobs", _ROTATED, 1.5, backlog=10),
)

GROUPS = (
    GroupPlan(
        "balanced",
        "three members with equal partitions, in the racks of their replicas: nothing to improve",
        "classic",
        ("invoices",),
        3,
        (2, 2, 2),
        racks=True,
    ),
    GroupPlan(
        "slow-member",
        "the third member commits less than is produced: its lag grows, the others keep up",
        "classic",
        ("clicks",),
        3,
        (2, 2, 2),
        slow_member=3,
    ),
    GroupPlan(
        "hot-partition",
        "partition 0 gets most of the traffic and carries most of the lag",
        "classic",
        ("sensors",),
        3,
        (2, 2, 2),
        slow_partition=0,
    ),
    GroupPlan(
        "skewed-load",
        "range gives the busy first partition of three topics to one member, and it falls behind",
        "classic",
        ("baskets", "payments", "visits"),
        3,
        (6, 3, 3),
        assignor="range,roundrobin",
        slow_partition=0,
        slow_share=1.0,
        speed=6,
    ),
    GroupPlan(
        "racks-ignored",
        "KIP-848 members have racks, the server's assignor ignores them: a third of reads cross",
        "consumer",
        ("orders", "pay"),
        3,
        (6, 6, 6),
        racks=True,
        crosses=True,
    ),
    GroupPlan(
        "racks-avoidable",
        "round robin over uneven replicas: 5 GB a day cross racks, by a plan none would have to",
        "classic",
        ("shipments",),
        3,
        (4, 4, 4),
        assignor="roundrobin",
        racks=True,
        crosses=True,
        follows=True,
    ),
    GroupPlan(
        "idle-members",
        "five members for three partitions: two have nothing to do",
        "classic",
        ("refunds",),
        5,
        (1, 1, 1, 0, 0),
    ),
    GroupPlan(
        "empty-with-commits",
        "no members, but old commits: its lag grows and nobody reads",
        "empty",
        ("archive",),
        0,
        committed_share=0.4,
    ),
    GroupPlan(
        "never-committed",
        "members read and never commit: lag is unknown without their auto.offset.reset",
        "classic",
        ("newsletters",),
        2,
        (2, 2),
        commits=False,
    ),
    GroupPlan(
        "cooperative",
        "cooperative-sticky members with an uneven number of partitions",
        "classic",
        ("inventory",),
        3,
        (3, 2, 2),
        assignor="cooperative-sticky",
    ),
    GroupPlan(
        "static-members",
        "members with a group.instance.id on two topics",
        "classic",
        ("inventory", "refunds"),
        3,
        (4, 3, 3),
        static=True,
    ),
    GroupPlan(
        "keeps-rebalancing",
        "two members that join over and over and never finish: no snapshot finds it stable",
        "rebalancing",
        ("newsletters",),
        2,
        committed_share=0.5,
    ),
    GroupPlan(
        "share-queue",
        "a share group of two members to which more than twice as much comes as they do: its lag grows",
        "share",
        ("jobs",),
        2,
        commits=False,
        speed=1,
    ),
    GroupPlan(
        "streams-classic",
        "Kafka Streams with state on the classic protocol: 2 instances of 2 threads, one standby",
        "streams-classic",
        ("invoices",),
        4,
        commits=False,
    ),
    GroupPlan(
        "streams-kip1071",
        "the same application with group.protocol=streams: tasks are assigned by the broker",
        "streams",
        ("clicks",),
        4,
        commits=False,
    ),
)

GROUPS_BY_NAME = {group.name: group for group in GROUPS}
TOPICS_BY_NAME = {topic.name: topic for topic in TOPICS}
