"""What configuration says of members, on its way to a strategy."""

from __future__ import annotations

import pytest

from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model.assignments import Assignment, Deployment
from evenkeel.engine.pipeline import replay
from tests.helpers.measuring import proposed
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


class Listens:
    """A strategy that remembers the data of the members it was asked about."""

    name = "listens"
    works_on = frozenset({"partitions"})
    needs = frozenset({"user_data"})
    deployment = Deployment.CLASS
    source = "a test"

    def __init__(self):
        self.heard = []

    def assign(self, spec):
        """The first member gets everything."""
        self.heard.append(dict(zip(spec.members, spec.config, strict=True)))
        return Assignment(owner=spec.owner * 0)


def test_configured_data_reaches_strategies_member_by_member(monkeypatch):
    """Each member's client id and host, and what configuration says of it, on top and at its own place."""
    listens = Listens()
    monkeypatch.setattr(replay, "every", lambda: {"listens": listens})
    described = group("g", members=[member(m, ["t"], {"t": [n]}) for n, m in enumerate("ba")])
    found = groups(make_snapshot(topics=[topic("t", 2)], groups=[described]))[0]
    rule = Rule(members={"a": {"weight": 3}, "b": {"host": "rack 7"}})
    settings = Settings(rules=(rule,))

    proposed(settings, found)

    assert listens.heard[0] == {
        "a": {"client_id": "a", "host": "10.0.0.1", "weight": 3},
        "b": {"client_id": "b", "host": "rack 7"},
    }


class Weighs(Listens):
    """A strategy whose members send their weight as text."""

    name = "weighs"

    def read_user_data(self, data):
        """The weight."""
        return {"weight": int(data)}

    def assign(self, spec):
        """The first member gets everything."""
        self.heard.append(spec.user_data)
        return super().assign(spec)


def _row(monkeypatch, strategy, sent=(b"3", b"1"), rule=None, **header):
    monkeypatch.setattr(replay, "every", lambda: {strategy.name: strategy})
    members = [
        member(m, ["t"], {"t": [n]}, user_data=data)
        for n, (m, data) in enumerate(zip("ab", sent, strict=True))
    ]
    described = group("g", members=members, **{"assignor": "weighs"} | header)
    live = groups(make_snapshot(topics=[topic("t", 2)], groups=[described]))[0]
    [row] = proposed(Settings(rules=(rule or Rule(),)), live)
    return row


def test_a_strategy_that_needs_user_data_reads_what_its_members_sent(monkeypatch):
    """In a group that runs it, each member's bytes through its own reading of them."""
    weighs = Weighs()

    row = _row(monkeypatch, weighs)

    assert (row["feasibility"], weighs.heard[0]) == ("can run", ({"weight": 3}, {"weight": 1}))


def test_configuration_stands_in_for_user_data_that_is_not_sent(monkeypatch):
    """A group that runs another strategy sends none for this one; what is configured of its members will do."""
    weighs = Weighs()
    rule = Rule(members={"*": {"weight": 2}})

    _row(monkeypatch, weighs, rule=rule, assignor="range")

    assert weighs.heard[0] == ({"weight": 2}, {"weight": 2})


@pytest.mark.parametrize(
    ("strategy", "more", "missing"),
    [
        (Weighs(), {"sent": (b"3", None)}, "of 1 of 2 (b@/10.0.0.1) none is known: they sent none"),
        (Weighs(), {"assignor": "range"}, "the group runs range, which sends none for it"),
        (Weighs(), {"sent": (b"x", b"1")}, "failed: read_user_data raised ValueError"),
        (Listens(), {"assignor": "listens"}, "its class has no read_user_data"),
    ],
)
def test_missing_user_data_is_named(monkeypatch, strategy, more, missing):
    """A strategy that cannot be given what it needs is infeasible, with whose data is missing and why."""
    row = _row(monkeypatch, strategy, **more)

    assert row["feasibility"] == "infeasible"
    assert missing in row["reason"]
    assert strategy.heard == []
