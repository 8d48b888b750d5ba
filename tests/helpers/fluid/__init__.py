"""
A physics oracle: consumer groups simulated as flows, so that what is said of them can be held against what is true.

    history = simulate([each.group for each in SITUATIONS.values()])
    record("fluid.evenkeel", history)                     # what `--from FILE` reads
    contradictions(SITUATIONS["slow-member"], events)     # of `evenkeel backtest --json`
    fork(group, snapshot=24, to="roundrobin").gain(3600)  # what a switch would have brought

`plan` (what there is to choose), `arrivals`, `world` (offsets, one step), `life` (members, rebalances, resets), `run`
(simulate), `tables` (snapshots, recordings), `fork` (with and without a switch), `truth` (what is true, what may be
said), `situations`, `curves` (real arrivals). `python -m tests.helpers.fluid SITUATION|--all --out FILE` writes
recordings. `python -m tests.helpers.fluid.score` tells how good all that is said is: `ways` (what each switch brings,
told or not), `calibration` (how often forecasts hold), `naive` (plain ones beside them).

**Time** goes in steps of 5 s. Snapshot k is taken at 300 k seconds; the simulation begins two hours before snapshot 0,
with everything read and committed but what a group's `backlog` says.

**Arrivals.** In a step a partition gets a Poisson number of records around `rate x traffic(t) x 5 s`. Traffic is a
product of a day (cosine), bursts, changes, and a slow noise all partitions of a group share: the exponential of an
Ornstein-Uhlenbeck process, mean 1. They are drawn from (seed, name of the group) alone, so that a group sees the same
records whatever it does and whoever else is simulated. A topic with `counts` gets as many as these say.

**Consumption.** In a step member m can read `capacity x 5 s` records. It reads all there is of its partitions if it
can; if not, equal shares, and what a partition does not need of its share goes to the others: `min(wanted, level)`,
with the one level at which the sum is the capacity (max-min fair). So a member that is not behind reads a record in the
step in which it arrives, and one that is loses no capacity while anything is left. Nothing is read of a partition
without owner, with a stuck record, or whose owner is away. A silent member has capacity 0, keeps what it owns, takes
part in rebalances, and a restart cures it; what slows a member down (its host) outlives its restarts.

**Commits.** Member m commits the positions of what it owns at `phase + m x spread` seconds, every `every` seconds, and
whenever it gives partitions up cleanly. A silent member does not commit.

**Rebalances.** When members join or leave, partitions or a hold-up come, everybody commits and stops for `pause`
seconds, then the strategy (the engine's own class) answers anew; while it lasts the state is PreparingRebalance and no
assignment is told. Under `cooperative-sticky`, and in groups of the newer protocol (KIP-848), those who keep a
partition read on, and what moves stands still for another pause. A member that crashes is missed after 45 s, and what
it read since its last commit is read again. A static member that restarts is only away. `Switch` restarts all members
one after another, the strategy changes with the last one.

**Retention.** A record older than `keeps` is cut off, at every half of `cut_every`. What was not read by then is lost,
whether or not a member is there: the position moves on, the commit follows with the next commit.

**What always holds**, for each partition and up to any snapshot:

    arrived + first backlog = consumed + lost + skipped - rewound + backlog
    commit <= position <= end,  and begin <= position at the end of a step

**Snapshots** read commits 0.2 s after they begin, log starts at 0.6 s, ends at 1.0 s (within a step all flows evenly).
Offsets are rounded down. Partition p of every topic is led by broker p mod 3, in rack p mod 3.

**Transactions.** One that stays open (`Hang`) holds the last stable offset of its partition, and the group, which then
reads committed records only, reads up to it.

What it does not do: fetch sizes and batches (consumption is fluid), Kafka Streams and share groups, the holes that
compaction leaves, replicas out of sync.
"""

from tests.helpers.fluid.fork import Fork, Outcome, fork, lateness, moved
from tests.helpers.fluid.plan import EVERY, FIRST, Commits, Group, Member, Topic, Traffic, at
from tests.helpers.fluid.run import History, simulate
from tests.helpers.fluid.situations import SITUATIONS
from tests.helpers.fluid.tables import CLUSTER, record, snapshots
from tests.helpers.fluid.truth import Diagnosis, Kind, Situation, Truth, contradictions

__all__ = [
    "CLUSTER",
    "EVERY",
    "FIRST",
    "SITUATIONS",
    "Commits",
    "Diagnosis",
    "Fork",
    "Group",
    "History",
    "Kind",
    "Member",
    "Outcome",
    "Situation",
    "Topic",
    "Traffic",
    "Truth",
    "at",
    "contradictions",
    "fork",
    "lateness",
    "moved",
    "record",
    "simulate",
    "snapshots",
]
