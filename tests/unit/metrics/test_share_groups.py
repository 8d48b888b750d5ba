"""What is said of share groups (KIP-932), whose members read the same partitions, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.messages.wording import words
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.batch import batch_of
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.model.states import CapacityBasis, Diagnosis, Status, TimeLagBasis
from tests.helpers.measuring import metric_rows, proposed
from tests.helpers.series import observed_series, steadily
from tests.helpers.sharing import TENS, behind, shared_snapshots
from tests.helpers.snapshots import groups

SETTINGS = Settings(rules=(Rule(commit_interval_seconds=10),))


def shared(starts: Sequence[Sequence[int]], **asked: Any) -> list[GroupSnapshot]:
    """Share group g in the snapshots of `shared_snapshots`."""
    return [groups(each)[0] for each in shared_snapshots(starts, **asked)]


def said(taken: Sequence[GroupSnapshot], **rule: Any) -> tuple[Diagnosis, str]:
    """The diagnosis of the newest snapshot, and how it reads."""
    [diagnosed] = observed_series(taken, **rule).diagnoses
    return diagnosed.diagnosis, "; ".join(map(words, diagnosed.facts))


def test_nobody_owns_a_partition_and_members_tell_how_many_they_have() -> None:
    """The same of a batch made of its groups one by one."""
    one = shared(TENS)[-1]
    assert one.partitions.owner.tolist() == [NONE] * 3
    assert [m.shares for m in one.members] == [3, 3]
    assert batch_of([one]).members.shares.tolist() == [3, 3]
    assert batch_of([one]).partitions.reported_lag.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("starts", "asked", "diagnosis", "text"),
    [
        (TENS, {}, Diagnosis.HEALTHY, ""),
        (
            [TENS[0]] * 5,
            {"members": 0},
            Diagnosis.NO_MEMBERS,
            "no member consumes its 3 partitions; 30 records/s incoming",
        ),
        (
            behind(by=[3000] * 3, does=[4] * 3),
            {},
            Diagnosis.UNDER_PROVISIONED,
            "2 members, needs 5; 30 records/s incoming, capacity 12 records/s",
        ),
        (
            behind(by=[9000] * 3, does=[15] * 3),
            {},
            Diagnosis.CATCHING_UP,
            "4 min 50 s behind in 3 partitions, caught up in about 9 min 40 s",
        ),
        (
            behind(by=[0] * 3, does=[0] * 3),
            {},
            Diagnosis.MEMBER_NOT_COMMITTING,
            "none of its 2 members has acknowledged a record for 20 min, 3 partitions; 30 records/s incoming",
        ),
        (
            behind(by=[0] * 3, does=[0, 10, 10]),
            {},
            Diagnosis.STUCK_PARTITION,
            "t-0 has not advanced for 20 min, although its members consume others",
        ),
        (
            behind(by=[9000, 0, 0], does=[1, 10, 10]),
            {"ends": steadily([40, 10, 10], 5, [9000] * 3)},
            Diagnosis.UNDER_PROVISIONED,
            "2 members, needs 6; 60 records/s incoming, capacity 21 records/s",
        ),
    ],
)
def test_the_members_are_one_consumer(starts, asked, diagnosis, text) -> None:
    """No member is slow, silent or skewed, no partition is hot, and partitions don't limit members."""
    assert said(shared(starts, **asked)) == (diagnosis, text)


def test_what_is_configured_of_a_member_counts_for_each() -> None:
    """Two members that do 8 a second each do 16 together."""
    taken = shared(behind(by=[3000] * 3, does=[4] * 3))
    told = "2 members, needs 4; 30 records/s incoming, capacity 16 records/s"
    assert said(taken, capacity_per_second=8) == (Diagnosis.UNDER_PROVISIONED, told)


def test_what_is_no_matter_of_a_share_group_is_unknown() -> None:
    """Assignment, idle members, unowned partitions; of a member its lag, rates and capacity, not how many it has."""
    *earlier, now = shared(behind(by=[3000] * 3, does=[4] * 3))
    rows = metric_rows(SETTINGS, now, earlier[::-1])
    [totals] = rows["group_metrics"]
    unknown = ("assignment", "idle_members", "unowned_partitions", "rebalance_seconds")
    assert [totals[name] for name in unknown] == [None] * 4
    assert totals["partition_spread"] is None
    assert totals["total_lag"] == sum(row["lag"] for row in rows["partition_metrics"]) > 0
    assert totals["findings"] == []
    for row in rows["member_metrics"]:
        assert row["partitions"] == 3
        assert row["capacity_basis"] == CapacityBasis.UNKNOWN
        numbers = ("lag", "production_per_second", "consumption_per_second", "utilization")
        assert [row[name] for name in (*numbers, "not_committing")] == [None] * 5
    for row in rows["partition_metrics"]:
        assert (row["member_id"], row["status"]) == (None, Status.WARN)
        assert (row["lag_basis"], row["subscribed"]) == ("reported by broker", True)


def test_a_member_more_is_no_rebalance() -> None:
    """Members of a share group do not stop for one another, so no pause is learned."""
    starts = [
        [s - 2000 * (n == 4) for s in row]
        for n, row in enumerate(behind(by=[6000] * 3, does=[9] * 3))
    ]
    seen = observed_series(shared(starts, members=[2, 2, 2, 2, 3]))
    assert seen.pauses == (None,)
    assert seen.causes.newest == {}


def test_what_is_all_acknowledged_is_not_behind() -> None:
    """The start offset moves on a moment later; the broker says that nothing is left."""
    starts = [[at - 50 for at in row] for row in TENS]
    seen = observed_series(shared(starts, lags=[[0] * 3] * 5))
    assert seen.lag.for_people.tolist() == [0, 0, 0]
    assert seen.time_lag.basis == [TimeLagBasis.CAUGHT_UP] * 3
    assert seen.delay.tolist() == [0.0] * 3
    assert seen.diagnoses[0].diagnosis is Diagnosis.HEALTHY


@pytest.mark.parametrize(("setting", "lag"), [("earliest", 11_000), ("latest", 0), (None, None)])
def test_the_setting_of_the_broker_says_where_an_unread_partition_begins(setting, lag) -> None:
    """A rule of ours comes first; without either it is unknown."""
    [now] = shared([[None] * 3], ends=[[11_000] * 3], lags=[[None] * 3], offset_reset=setting)
    rows = metric_rows(Settings(), now)["partition_metrics"]
    assert [row["lag"] for row in rows] == [lag] * 3
    ruled = Settings(rules=(Rule(auto_offset_reset="latest"),))
    assert [row["lag"] for row in metric_rows(ruled, now)["partition_metrics"]] == [0] * 3


def test_no_strategy_is_tried() -> None:
    """There is no assignment to improve; each row says so."""
    *earlier, now = shared(behind(by=[3000] * 3, does=[4] * 3))
    rows = proposed(SETTINGS, now, earlier[::-1])
    assert {row["reason"] for row in rows if row["strategy"] != "live"} <= {
        "a share group has no assignment to improve: its members share partitions"
    }
    assert not any(row["feasibility"] in ("available", "needs restart") for row in rows)
