"""`evenkeel readiness`: groups in the order in which they should move, one in full, and as objects."""

from __future__ import annotations

import json

import pytest

from evenkeel.engine.model.columns import columns_of
from evenkeel.engine.records import ReadinessRow
from tests.helpers.snapshots import change, group, make_snapshot, member, topic
from tests.unit.advice.test_protocol_readiness import SERVING
from tests.unit.cli.conftest import RECORDED, lacking, objects


@pytest.fixture
def asked(run, kept):
    """Ask for the readiness of five groups of a lake: two that can move, one that moved, and two that do not."""

    def of(name, **columns):
        rows = [member(f"{name}-{n}", ["orders"], {"orders": [n]}) for n in range(2)]
        return group(name, members=rows, **columns)

    snapshot = make_snapshot(
        topics=[topic("orders", 2)],
        groups=[
            of("eager"),
            of("own", assignor="acme"),
            group(
                "newer",
                members=[member("n", ["orders"], {"orders": [0]}, kind="consumer")],
                group_type="consumer",
                assignor="uniform",
            ),
            of("shared", group_type="share"),
            of("moving", state="PreparingRebalance"),
        ],
    )
    told = json.dumps(SERVING)
    served = change(
        snapshot, "brokers", lambda rows: [row | {"group_settings": told} for row in rows]
    )
    lake = kept(served)
    return lambda *options: run("readiness", "--from", lake, *options)


def test_groups_that_do_not_move_are_listed_if_asked(asked):
    """What is to be done is listed, the rest is counted; `--all` lists all."""
    assert "shared" not in asked().stdout
    everything = asked("--all").stdout
    assert lacking(everything, "- newer moved … - shared not applicable") is None
    assert "--all" not in everything


ONE = """
own: has losses for the consumer protocol, classic, 2 members Moves acme -> uniform
… Loses Acme has no counterpart on brokers: uniform assigns.
… Gains Members no longer wait for each other.
… Note The client library of 2 of 2 members is unknown.
… Note The brokers set the session timeout (45 s) and heartbeat (5 s)
… Next evenkeel runbook --group own --strategy uniform
"""


def test_one_group_is_shown_in_full(asked):
    """What it loses and gains, what else to know, and the command that prints the move."""
    assert lacking(asked("--group", "own").stdout, ONE) is None


def test_every_group_is_an_object(asked):
    """With all columns of its record, in the same order."""
    rows = objects(asked("--json"))

    assert [(row["group_id"], row["place"], row["readiness"]) for row in rows] == [
        ("eager", 1, "ready"),
        ("own", 2, "has losses"),
        ("moving", None, "not evaluated"),
        ("newer", None, "moved"),
        ("shared", None, "not applicable"),
    ]
    assert [*rows[0]] == [spec.name for spec in columns_of(ReadinessRow)]
    assert rows[1]["next_step"] == "evenkeel runbook --group own --strategy uniform"
    assert [fact["measure"] for fact in rows[1]["facts"]] == [
        "assignor_without_counterpart",
        "no_barrier",
        "library_unknown",
    ]


def test_it_reads_a_recording_from_before_brokers_told_their_settings(told):
    """What they forbid is unknown; the groups are told all the same."""
    rows = {
        row["group_id"]: row for row in objects(told("readiness", "--from", RECORDED, "--json"))
    }

    assert rows["balanced"]["losses"] == ["cross-rack share 0% -> 50%"]
    assert (rows["racks-ignored"]["readiness"], rows["skewed-load"]["place"]) == ("moved", 2)


def test_a_group_that_there_is_not_is_named(asked):
    """As every verb does."""
    result = asked("--group", "eagre")

    assert result.exit_code == 1
    assert "eager" in result.stderr
