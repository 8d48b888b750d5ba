"""What configuration says of members, on its way to a strategy."""

from __future__ import annotations

from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model import Assignment, Reach
from evenkeel.engine.steps import propose
from tests.helpers.measuring import proposed
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


class Listens:
    """A strategy that remembers the data of the members it was asked about."""

    name = "listens"
    works_on = frozenset({"partitions"})
    needs = frozenset({"user_data"})
    reach = Reach.CLASS
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
    monkeypatch.setattr(propose, "every", lambda: {"listens": listens})
    described = group("g", members=[member(m, ["t"], {"t": [n]}) for n, m in enumerate("ba")])
    found = groups(make_snapshot(topics=[topic("t", 2)], groups=[described]))[0]
    rule = Rule(members={"a": {"weight": 3}, "b": {"host": "rack 7"}})
    settings = Settings(rules=(rule,))

    proposed(settings, found)

    assert listens.heard[0] == {
        "a": {"client_id": "a", "host": "10.0.0.1", "weight": 3},
        "b": {"client_id": "b", "host": "rack 7"},
    }
