"""Every reason an advice can have fits the column of a table: names are cut, numbers are not."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from evenkeel.engine.messages.wording.short_reasons import (
    DIAGNOSES,
    FINDINGS,
    GAINS,
    REASONS,
    WIDTH,
    notable,
    short_reason,
)
from evenkeel.engine.model.facts import Fact, FactKind, fact, finding, reason, remark
from evenkeel.engine.model.states import ALARMS, Diagnosis

ENGINE = Path(__file__).parents[3] / "engine"
LONG = "payments-reconciliation-and-settlement-service" * 3
LARGE = {"before": 9.876e14, "after": 1.234e14, "bound": 4.567e14, "partitions": 123_456_789}
AT = 1_795_365_265.0
LOSSES = (
    *("price_offset_seconds", "forecast_lag_expected", "forecast_utilization_expected"),
    *("cross_rack_bytes_per_second", "stores_in_one_rack", "partition_spread", "moves", "unowned"),
    "given_twice",
)
SHARES = remark("cross_rack_share", before=0.9996, after=0.0004)
BESIDE = {
    "saves_too_little": [remark("cross_rack_bytes_per_second", before=9e14, after=1e14), SHARES],
    "could_be_nearer": [SHARES],
    "the_way_back": [reason("adopted_at", after=AT)],
    "muted_strategy": [reason("missed_at", after=AT), reason("missed_at", after=AT)],
}


def large(kind: FactKind, measure: str) -> Fact:
    """A fact of large numbers and a long name; shares and moments are what they can be."""
    values = LARGE
    if measure in ("lost_rack_awareness", "leaders_only", "cross_rack_share"):
        values = LARGE | {"before": 0.9996, "after": 0.0004}
    if measure in ("outcome_awaited", "muted_strategy", "the_way_back"):
        values = LARGE | {"after": AT, "bound": 604_800}
    return fact(kind, measure, [LONG, LONG], quote=f"{LONG}\nx\x1b[31m", unit="EUR", **values)


def cases():
    """Each reason with what can stand beside it."""
    for measure in REASONS:
        yield [large(FactKind.REASON, measure), *BESIDE.get(measure, ())]
    for first, gain in itertools.product(
        ("to_be_confirmed", "is_confirmed", "still_advised"), GAINS
    ):
        yield [large(FactKind.REASON, first), large(FactKind.GAIN, gain), SHARES]
    for gain in (*GAINS, "largest_member_lag", "of_a_stranger"):
        yield [large(FactKind.GAIN, gain), SHARES]
        yield [large(FactKind.GAIN, gain)]
    for diagnosis in DIAGNOSES:
        blame = "assignment_not_to_blame"
        yield [large(FactKind.REASON, blame), large(FactKind.DIAGNOSIS, diagnosis)]
    for loss in LOSSES:
        gain = large(FactKind.GAIN, "cross_rack_bytes_per_second")
        yield [large(FactKind.REASON, "gain_with_loss"), gain, large(FactKind.LOSS, loss)]
    for found in FINDINGS:
        yield [reason("nothing_to_gain", [LONG]), large(FactKind.FINDING, found)]
    yield [large(FactKind.REASON, "of_a_stranger")]


@pytest.mark.parametrize(
    "facts", list(cases()), ids=lambda facts: "-".join(f.measure for f in facts)
)
def test_a_reason_fits_its_column(facts):
    """At most 38 characters, two numbers, none of them cut; a change from one to another counts as one."""
    told = short_reason(facts, facts)

    assert told
    assert told.isprintable()
    assert len(told) <= WIDTH
    own = any(each.quote in told for each in facts if each.quote)
    number = r"[<>]?\d+(?:[.,:-]\d+)*(?:[kMGT%]|/s)?"
    single = re.sub(
        rf"{number} -> {number}|(?:\d+[dhms] ?){{1,2}}\b", "N", told.replace("KIP-392", "")
    )
    assert own or len(re.findall(rf"N|{number}", single)) <= 2
    assert not re.search(r"\d…|…\d", told)


def written(path: str, until: str | None = None) -> set[str]:
    """The reasons that a file gives, as far as they stand there."""
    source = (ENGINE / path).read_text(encoding="utf-8").split(until or "\0")[0]
    return set(re.findall(r'(?:reason|finding)\(\s*"(\w+)"', source)) - {"adopted_at"}


def test_every_reason_of_an_advice_has_one():
    """What is decided, what it waits for, and why a group is not evaluated: a new reason needs its short form."""
    beside = {"told_after", "claimed_since", "missed_at"}
    of_strategies = {"runs_it", "no_plan_follower"}
    given = {
        *written("advice/decide.py"),
        *written("advice/reasons_to_stay.py"),
        *written("advice/evidence.py"),
        *written("advice/feasibility.py", "class Feasibilities"),
        *written("pipeline/stored_metrics.py"),
        *written("pipeline/measure.py"),
        *written("pipeline/propose.py"),
        *("to_be_confirmed", "diagnosis_unknown", "restarting_no_help", "assignment_not_to_blame"),
        *("saves_too_little", "could_be_nearer"),
    }
    measures = given - beside - of_strategies
    assert measures - {*REASONS, *FINDINGS} == set()
    assert len(measures) > 25


def test_every_diagnosis_has_one():
    """The reason of a group whose assignment is not to blame is what is."""
    kinds = {each.measure for each in set(Diagnosis) - ALARMS} - {"healthy", "unknown"}
    assert kinds - set(DIAGNOSES) == set()


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ([reason("in_rebalance", ["CompletingRebalance"])], "CompletingRebalance, retry if Stable"),
        (
            [
                reason("the_way_back", ["range", "sticky"], bound=5 * 86_400),
                reason("adopted_at", after=AT),
            ],
            "revert blocked until 11-27",
        ),
        ([reason("outcome_awaited", ["sticky"], after=AT)], "switched 15:34, verified at 16:34"),
        ([reason("muted_strategy", ["sticky"], after=AT)], "sticky paused until 11-22"),
        ([reason("unreadable", quote="not authorized: DESCRIBE")], "not authorized: DESCRIBE"),
        (
            [
                reason("assignment_not_to_blame", ["under-provisioned"]),
                fact(FactKind.DIAGNOSIS, "under_provisioned", before=3, after=5, bound=12),
            ],
            "needs 5 members, has 3",
        ),
        (
            [
                reason("gain_with_loss", ["roundrobin"]),
                fact(FactKind.GAIN, "forecast_lag_expected", before=9, after=1),
                fact(FactKind.LOSS, "cross_rack_bytes_per_second", before=1, after=2),
            ],
            "roundrobin: lag down, cross-rack up",
        ),
    ],
)
def test_what_it_says(facts, told):
    """One reason, with the number that matters."""
    assert short_reason(facts) == told


def test_a_finding_takes_the_place_of_nothing_to_gain_only():
    """A reason that says something stays; remarks on how something is measured are no finding to be listed for."""
    racks = finding("lost_rack_awareness", before=1 / 3, after=0.0)
    idle = finding("idle_members", after=2, bound=5, partitions=3)
    stays = [reason("nothing_to_gain", ["range"])]
    assert short_reason(stays, [idle, racks]) == "33% cross-rack; racks-server gets 0%"
    assert short_reason(stays, [idle]) == "2 of 5 members are idle"
    assert short_reason([reason("no_forecast")], [racks]) == "needs 2 snapshots"
    assert notable([finding("compacted_lag", ["t"], partitions=1)]) == []
