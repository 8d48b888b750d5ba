"""The versions that `constraints.txt` decides, and the hashes that `make lock` writes beside them."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
LOCKS = ROOT / ".ci" / "locks"
S3_SERVER = ROOT / "tests" / "helpers" / "s3-server.txt"
"""Pins of an environment of its own."""

_LOCKED = re.compile(
    r"^([a-z0-9][\w.-]*)==([^ \n]+)[^\n]*\n((?:    --hash=sha256:\w{64}.*\n)*)", re.M
)


def pinned(file: Path = CONSTRAINTS) -> dict[str, str]:
    """The version of each package, by its normalized name."""
    lines = (line.partition("==") for line in file.read_text(encoding="utf-8").splitlines())
    return {canonicalize_name(name): version for name, equal, version in lines if equal}


def locked(name: str) -> dict[str, tuple[str, int]]:
    """The version of each package of a lock, and how many hashes it has."""
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8")
    return {
        canonicalize_name(package): (version, hashes.count("--hash="))
        for package, version, hashes in _LOCKED.findall(text)
    }


def sources(name: str) -> Path:
    """The pins that a lock is made from."""
    return S3_SERVER if name == "s3-server" else CONSTRAINTS
