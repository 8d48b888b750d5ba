"""
Addresses of this host, as brokers write them: by these a plan knows a member without instance id.

Brokers write an address in Java's way, IPv6 in full; so whoever compares has only text to compare.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

AT_MOST = 64
"""More than these are not told: a node that forwards for a whole cluster has thousands."""

_ELSEWHERE = (
    (socket.AF_INET, "192.0.2.1"),  # of networks that are for documentation (RFC 5737, RFC 3849)
    (socket.AF_INET6, "2001:db8::1"),
)


def as_brokers_write(address: str) -> str:
    """
    An address in Java's form; what is no address is returned as it is.

    >>> as_brokers_write("::1")
    '0:0:0:0:0:0:0:1'
    >>> as_brokers_write("fe80::1%eth0"), as_brokers_write("::ffff:10.0.0.1"), as_brokers_write("pod-1")
    ('fe80:0:0:0:0:0:0:1', '10.0.0.1', 'pod-1')

    Source: `java.net.Inet6Address.getHostAddress`.
    """
    try:
        parsed: IPv4Address | IPv6Address = ip_address(address.strip().partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return ":".join(f"{int(group, 16):x}" for group in parsed.exploded.split(":"))


def own_addresses() -> list[str]:
    """
    Addresses of this host: first those by which it reaches others, then all that Linux knows, then the loopback ones.

    Sends nothing and asks no name server. On other systems than Linux, those of further interfaces are missing.
    """
    every = [*_outward(), *_ipv4_of_linux(), *_ipv6_of_linux(), "127.0.0.1", "::1"]
    return list(dict.fromkeys(as_brokers_write(each) for each in every))[:AT_MOST]


def _outward() -> list[str]:
    """By which address this host would send to somewhere else; connecting a datagram socket sends nothing."""
    addresses = []
    for family, elsewhere in _ELSEWHERE:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            addresses.append(str(probe.getsockname()[0]))
    return addresses


def _ipv4_of_linux(table: Path = Path("/proc/net/fib_trie")) -> list[str]:
    """What the routing table holds as local to this host."""
    addresses: list[str] = []
    last = ""
    with suppress(OSError):
        for line in table.read_text().splitlines():
            words = line.split()
            if words[:1] == ["|--"]:
                last = words[1]
            elif words == ["/32", "host", "LOCAL"]:
                addresses.append(last)
    return addresses


def _ipv6_of_linux(table: Path = Path("/proc/net/if_inet6")) -> list[str]:
    """One per line, in 32 digits."""
    with suppress(OSError):
        words = [line.split()[0] for line in table.read_text().splitlines() if line.strip()]
        return [str(IPv6Address(int(word, 16))) for word in words]
    return []
