"""Addresses of a host as brokers write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenkeel.engine.followers import addresses
from evenkeel.engine.followers.addresses import own_addresses

ROUTES = """\
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.0.0.0/24 2 0 2
        |-- 10.0.0.0
           /24 link UNICAST
        |-- 10.0.0.2
           /32 host LOCAL
        |-- 10.0.0.255
           /32 link BROADCAST
     |-- 127.0.0.0
        /8 host LOCAL
"""
INTERFACES = """\
fd000000000000000000000000000002 04 40 00 82     eth0
00000000000000000000000000000001 01 80 10 80       lo
"""


def test_the_tables_of_linux_are_read(tmp_path: Path) -> None:
    """Addresses of this host, no networks; nothing where there is no such table."""
    (tmp_path / "routes").write_text(ROUTES)
    (tmp_path / "interfaces").write_text(INTERFACES)
    assert addresses._ipv4_of_linux(tmp_path / "routes") == ["10.0.0.2"]
    assert addresses._ipv6_of_linux(tmp_path / "interfaces") == ["fd00::2", "::1"]
    assert addresses._ipv4_of_linux(tmp_path / "none") == []
    assert addresses._ipv6_of_linux(tmp_path / "none") == []


@pytest.mark.slow
def test_this_host_has_those_of_loopback_written_as_brokers_do() -> None:
    """Brokers of this host see them."""
    assert {"127.0.0.1", "0:0:0:0:0:0:0:1"} <= set(own_addresses())


def test_not_more_are_told_than_others_want_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those by which this host reaches others come first."""
    many = [f"10.0.{n}.1" for n in range(200)]
    monkeypatch.setattr(addresses, "_ipv4_of_linux", lambda: many)
    monkeypatch.setattr(addresses, "_outward", lambda: ["10.9.9.9"])
    assert own_addresses() == ["10.9.9.9", *many[: addresses.AT_MOST - 1]]
