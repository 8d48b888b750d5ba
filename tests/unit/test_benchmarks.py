"""The benchmarks run; what they measure is not judged."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.__main__ import main, rows
from tests.benchmarks.cases import CASES, Case, build
from tests.benchmarks.measure import measure

SMALL = Case(members=4, partitions=32, topics=4, racks=3)


class Peer:
    """A peer that knows one strategy."""

    name = "peer"

    def milliseconds(self, case, strategy, repeat):
        """Always the same for range."""
        return 12.5 if strategy == "range" else None


def test_a_case_has_the_size_it_says():
    """Members, topics, partitions and racks are as many as named, and everybody subscribes to all."""
    group = build(SMALL)

    assert (len(group.members), len(group.topics), group.partition_count) == (4, 4, 32)
    assert len(group.racks) == 3
    assert [len(s) for s in group.subscribers] == [4, 4, 4, 4]
    assert np.diff(group.replica_start).tolist() == [2] * 32


def test_the_budgets_cases_are_measured():
    """The largest case has 2,000 members and a million partitions, with racks and without."""
    assert [c.racks > 0 for c in CASES if (c.members, c.partitions) == (2_000, 1_000_000)] == [
        False,
        True,
    ]


def test_each_row_has_a_column_per_peer():
    """Building the input and each strategy have a row, and a peer's time stands beside ours."""
    table = list(rows([SMALL], ["range", "roundrobin"], [Peer()], repeat=1))

    assert [(row[4], row[-1]) for row in table] == [
        ("build", "-"),
        ("range", "12.5"),
        ("roundrobin", "-"),
    ]


def test_every_call_has_a_fresh_argument():
    """Warm-up, timed calls and the one for memory each get an argument of their own."""
    made, seen = iter(range(100)), []

    measure(seen.append, lambda: next(made), repeat=3)

    assert seen == [0, 1, 2, 3, 4]


def test_memory_is_that_of_the_call():
    """The peak is what a call allocates, not what was there before."""
    before = np.zeros(1 << 20)

    peak = measure(lambda _: np.zeros(1 << 19).sum(), lambda: None, repeat=1).peak_mib

    assert before.nbytes == 8 << 20
    assert 4 <= peak < 5


def test_the_command_prints_a_table(capsys):
    """Run as a command, it prints one line per measurement."""
    main(["--at-most", "10000", "--repeat", "1"])

    assert capsys.readouterr().out.count("roundrobin") == 2
