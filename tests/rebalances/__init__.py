"""
Rebalances with a known cause: groups of real processes on real brokers, recorded as snapshots every ten seconds.

    python -m tests.rebalances                           # records all scenes again, in about half an hour
    python -m tests.rebalances deploy crash-loop         # some of them
    python -m tests.rebalances --out DIR

Each scene leaves a recording and its truth in `tests/data/rebalances`. `scenes` says what is done to which group,
`member` is a member's process, `run` does it and takes snapshots, `truth` is what members and brokers wrote down.

What brokers of Kafka 4.3 show of it:

* A classic group's generation is in no response. A member's subscription has the generation of its last assignment:
  always with Java's client, with librdkafka only for cooperative-sticky. In a group that is Stable the highest of
  these is one less than the group's generation; none when all members have just joined. While the group is
  PreparingRebalance or CompletingRebalance there are no subscriptions and no assignments, but member ids.
* A dynamic member of a classic group has another id after each join: a restart, a poll timeout, a session timeout. A
  static one has another id after each restart, and the generation stays.
* A KIP-848 group's epoch goes up by one for each member that joins, leaves or is fenced, and for each change of
  subscriptions or partitions; the target's epoch follows within `consumer.assignment.interval.ms`. A member that was
  fenced or exceeded its poll interval comes back under the same id: only the epoch, two higher, tells of it.
  librdkafka's leaves when it polls again, not when the interval is over.
* A static KIP-848 member that is restarted has another id and its group the same epoch; while it is away its epoch is
  -2 and the group Reconciling. One that was killed is refused until its session is over: librdkafka ends with an error.
* A killed member of a KIP-848 group keeps its place and its partitions until its session is over, also against the
  process that was started for it: partitions are promised to members that are dead, and nobody reads them.
* A coordinator that is killed is another broker ten seconds later (`broker.session.timeout.ms`), one that is shut down
  at once. Nothing else changes: no generation, no epoch, no member id, no owner, with either protocol.
* Who subscribes by a pattern lists the topics it stands for in a classic group, the pattern in a KIP-848 group, where
  the coordinator looks for new topics every ten seconds or so.
"""
