"""A day of many healthy groups through the backtest."""

from __future__ import annotations

import pytest

from tests.benchmarks import healthy_day
from tests.helpers.fluid import SITUATIONS


def test_all_kinds_of_healthy_groups_are_there_under_names_of_their_own():
    """No two see the same records: those are drawn from the name."""
    groups = healthy_day.healthy(50)
    kinds = {each.name for each in SITUATIONS.values() if each.healthy}

    assert len({group.name for group in groups}) == 50
    assert {group.name.rpartition("-")[0] for group in groups} == kinds


@pytest.mark.slow
def test_nobody_is_woken_by_healthy_groups(capsys):
    """A few of them for a few hours; what a thousand say in a day takes a quarter of an hour."""
    assert healthy_day.main(["--groups", "20", "--snapshots", "60"]) == 0
    assert "20 groups x 60 snapshots: 0 messages" in capsys.readouterr().out


def test_what_is_told_is_printed_and_fails(capsys, monkeypatch):
    """A group that is not healthy, taken for one."""
    ill = SITUATIONS["no-members"].group
    monkeypatch.setattr(healthy_day, "healthy", lambda count: [ill] * count)

    assert healthy_day.main(["--groups", "1", "--snapshots", "33"]) == 1
    assert "opened no-members: no-members (fluid): " in capsys.readouterr().out
