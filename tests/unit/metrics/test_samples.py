"""What snapshots in a row say of commits."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.metrics.samples import Samples


def _samples(every: float, *committed: list[float]) -> Samples:
    """Two partitions of one member, newest sample first; nothing is ever all read."""
    commits = np.array(committed)
    seconds = -every * np.arange(len(commits), dtype=float)
    return Samples(
        begin=np.zeros_like(commits),
        end=np.full_like(commits, 1000.0),
        committed=commits,
        at=np.repeat(seconds[:, None], 2, axis=1),
        owner=np.zeros(commits.shape, np.int32),
    )


@pytest.mark.parametrize(("every", "stands"), [(300, True), (30, True), (10, True), (9, False)])
def test_a_commit_stands_still_only_after_a_while(every: float, stands: bool) -> None:
    """A few snapshots seconds apart see too little: the next commit may just be due."""
    seen = _samples(every, [7, 9], [7, 8], [7, 7], [7, 6])

    assert seen.stands.tolist() == [stands, False]


def test_a_group_may_commit_more_rarely_than_it_is_looked_at() -> None:
    """Two intervals without a commit say nothing yet; one does of a partition that always moved before."""
    assert _samples(300, [7, 9], [7, 9], [7, 8]).stands.tolist() == [False, False]
    assert _samples(300, [7, 9], [7, 9], [6, 8], [5, 8], [4, 8]).stands.tolist() == [True, False]


def test_a_commit_of_moments_ago_goes_on() -> None:
    """It stood still since the last snapshot and moved before: five seconds ago, or five minutes, that matters."""
    assert _samples(5, [7, 9], [7, 9], [7, 7]).goes_on.tolist() == [False, True]
    assert _samples(300, [7, 9], [7, 9], [7, 7]).goes_on.tolist() == [False, False]


def test_one_snapshot_says_nothing_of_it() -> None:
    """Neither that a commit stands nor that it goes on."""
    seen = _samples(5, [7, 9])

    assert not seen.stands.any()
    assert not seen.goes_on.any()
