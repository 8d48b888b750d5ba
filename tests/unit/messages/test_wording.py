"""How facts read, and what stands for a fact that nobody has words for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import evenkeel.engine
from evenkeel.engine.messages.wording import because, proof, words
from evenkeel.engine.messages.wording.facts import CLAUSES
from evenkeel.engine.messages.wording.runbook import measures
from evenkeel.engine.model.facts import MOST_SUBJECTS, Fact, FactKind, finding
from evenkeel.engine.records import record_of, row_of, to_json

GAIN, LOSS, REMARK = FactKind.GAIN, FactKind.LOSS, FactKind.REMARK


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        (
            Fact(kind=LOSS, measure="largest_member_lag", before=1, after=2500),
            "largest member lag 1 -> 2,500 offsets",
        ),
        (
            Fact(kind=GAIN, measure="unowned", before=1, after=0),
            "1 unowned partition gets an owner",
        ),
        (Fact(kind=LOSS, measure="unowned", before=0, after=1), "1 more partition without owner"),
        (
            Fact(kind=LOSS, measure="moves", after=1, bound=0),
            "1 partition would move, the policy allows 0",
        ),
        (
            Fact(kind=LOSS, measure="given_twice", partitions=1, subjects=("t-0",)),
            "its assignment is flawed: 1 partition is assigned to more than one member, t-0",
        ),
        (finding("flaw", quote="long lags are left out"), "long lags are left out"),
        (
            Fact(kind=FactKind.FINDING, measure="warm_spares", before=2, after=3, subjects=("a",)),
            "warm spares 2 -> 3 (a)",
        ),
    ],
)
def test_a_fact_reads_as_a_clause(fact, told):
    """Singular and plural fit; a flaw counts as a loss; what has no words of its own says its name and values."""
    assert words(fact) == told


def test_many_subjects_are_counted_not_lost():
    """A fact keeps the first, its clause names fewer still, and the count is that of all."""
    topics = [f"t{n:02}" for n in range(MOST_SUBJECTS + 5)]
    fact = finding("commits_of_no_partition", topics, partitions=99)

    assert (len(fact.subjects), fact.more) == (MOST_SUBJECTS, 5)
    assert words(fact).endswith(": t00, t01, t02 and 22 more")


def test_what_belongs_to_a_gain_stands_closer_than_the_next_gain():
    """What decides comes first, its remarks behind it, and the next gain apart."""
    cost = Fact(kind=GAIN, measure="cross_rack_cost_per_month", before=90.0, after=30.0, unit="EUR")
    share = Fact(kind=REMARK, measure="cross_rack_share", before=0.1, after=0.2)
    owned = Fact(kind=GAIN, measure="unowned", before=4, after=0)

    told = "60.00 EUR a month saved, cross-rack share 10% -> 20%; 4 unowned partitions get an owner"
    assert because([cost, share, owned]) == told


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        (
            Fact(kind=REMARK, measure="price_held_up_offsets", after=0.2, bound=1),
            "1 restart delays almost no records",
        ),
        (
            Fact(kind=REMARK, measure="price_held_up_offsets", after=1.0, bound=0),
            "reassigning delays about 1 record",
        ),
        (
            Fact(kind=REMARK, measure="forecast_drained_seconds", after=725.0, bound=1208.0),
            "caught up in 12 to 20 min",
        ),
        (
            Fact(
                kind=REMARK,
                measure="forecast_drained_seconds_staying",
                after=2400.0,
                bound=float("inf"),
            ),
            "with the current assignment not caught up before 40 min",
        ),
        (
            Fact(
                kind=REMARK, measure="forecast_lag_integral_expected", before=3600.0, after=10_800.0
            ),
            "over the hour 2 offsets more behind on average (7,200 lag-seconds)",
        ),
        (
            Fact(kind=REMARK, measure="cross_rack_records_per_second", before=0.0, after=0.5),
            "43,200 records a day more across racks",
        ),
    ],
)
def test_forecasts_and_prices_read_as_clauses(fact, told):
    """One and many, nothing and something, less and more."""
    assert words(fact) == told


def test_a_fact_of_what_never_ends_survives_its_json():
    """A group that is not caught up within the hour has a fact that says so."""
    never = Fact(kind=REMARK, measure="forecast_drained_seconds", after=9.0, bound=float("inf"))

    assert record_of(Fact, to_json(never)) == never
    assert record_of(Fact, row_of(never)) == never


@pytest.mark.parametrize(
    ("after", "bound", "told"),
    [
        (1204, 1170, "largest member lag 1,204, at most 3% above its lower bound of 1,170"),
        (
            100_001,
            100_000,
            "largest member lag 100,001, at most 0.01% above its lower bound of 100,000",
        ),
    ],
)
def test_a_gap_is_rounded_up(after, bound, told):
    """What is said of it is never less than the gap."""
    counts = Fact(kind=FactKind.EXACT, measure="partition_counts")
    lag = Fact(kind=FactKind.WITHIN, measure="largest_member_lag", after=after, bound=bound)

    assert proof([counts, lag]) == f"counts exact; {told}"


def test_criteria_that_are_open_are_named_each():
    """Exact ones together, then gaps, then what is not proven, then lags that were left out."""
    facts = [
        Fact(kind=FactKind.EXACT, measure="partition_counts"),
        Fact(kind=FactKind.NOT_PROVEN, measure="largest_member_lag", partitions=1),
        Fact(kind=FactKind.WITHIN, measure="cross_rack_share", after=1 / 8, bound=1 / 9),
        Fact(kind=FactKind.NOT_PROVEN, measure="moves"),
    ]
    assert proof(facts) == (
        "counts exact; cross-rack share 12.5%, lower bound 11.1%; moves not proven; largest member lag left out:"
        " 1 partition of unknown lag"
    )
    assert proof([]) is None


def test_a_fact_survives_its_row_and_its_json():
    """What is stored is the value itself."""
    fact = finding("idle_members", ["a", "b"], after=2, bound=5, partitions=3)

    assert record_of(Fact, row_of(fact)) == fact
    assert record_of(Fact, to_json(fact)) == fact


def _made() -> Iterator[str]:
    """The measures of facts that are made in words of their own, by the calls in the code."""
    for path in (Path(evenkeel.engine.__file__).parent).rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or not isinstance(
                call.func, ast.Name | ast.Attribute
            ):
                continue
            made_by = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
            quoted = any(each.arg == "quote" for each in call.keywords)
            if made_by in ("finding", "note", "reason", "step") and call.args and not quoted:
                for part in ast.walk(call.args[0]):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value


@pytest.mark.slow
def test_every_measure_that_is_made_has_words():
    """None is shown by its name only, because somebody forgot to word it."""
    of_a_verdict = {
        *("nothing_deployable", "no_live_assignment", "nothing_to_gain", "unknown_lag"),
        *(
            "assignment_not_to_blame",
            "no_strategy_helps",
            "could_be_more_even",
            "restarting_no_help",
        ),
        *(
            "diagnosis_unknown",
            "no_forecast",
            "could_be_nearer",
            "saves_too_little",
            "gain_not_sure",
        ),
    }
    of_a_verdict |= {
        "gain_with_loss",
        "to_be_confirmed",
        "is_confirmed",
        "still_advised",
        "policy_forbids",
    }
    made = {name for name in _made() if re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+", name)}

    assert len(made) > 80
    assert made - of_a_verdict <= {*CLAUSES, *measures()}


ENGINE = Path(evenkeel.engine.__file__).parent
PLACEHOLDER = re.compile(r"(evenkeel|kafka-[\w-]+\.sh)( [\w=.,-]+)* GROUP\b")


def texts() -> Iterator[tuple[str, str]]:
    """Each text of the engine that may reach a reader, with where it is: no docstrings, all templates."""
    for file in ENGINE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in alone
            ):
                yield f"{file.name}:{node.lineno}", node.value
    for pattern in ("*.txt", "*.html"):
        for file in ENGINE.rglob(pattern):
            yield file.name, file.read_text(encoding="utf-8")


def test_no_command_has_a_placeholder_for_a_group():
    """A reader copies a command: the name of the group is in it, or it needs none."""
    assert [where for where, text in texts() if PLACEHOLDER.search(text)] == []
