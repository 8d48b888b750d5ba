"""The pins and their hashes: `constraints.txt` and `.ci/locks`."""

from __future__ import annotations

import tomllib
from itertools import chain

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.supply.pins import CONSTRAINTS, LOCKS, ROOT, locked, pinned, sources

NAMES = ("installer", "build", "test", "docs", "release", "s3-server")


def _required() -> dict[str, list[str]]:
    """What `pyproject.toml` asks for, by the lock that has it."""
    read = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = read["project"]
    extras = project["optional-dependencies"].values()
    tested = [each for each in chain(*extras) if not each.startswith("evenkeel[")]
    return {"test": [*project["dependencies"], *tested], **read["dependency-groups"]}


def test_every_lock_is_known() -> None:
    """One for the project with its tests, one for each group, one for the server of the tests."""
    assert sorted(path.stem for path in LOCKS.glob("*")) == sorted(NAMES)
    assert sorted([*_required(), "s3-server"]) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_has_the_pins(name: str) -> None:
    """`make lock` writes it again after a change."""
    wanted = pinned(sources(name))
    assert {
        package: version
        for package, (version, _) in locked(name).items()
        if wanted.get(package) != version
    } == {}


@pytest.mark.parametrize("name", NAMES)
def test_every_package_of_a_lock_has_a_hash(name: str) -> None:
    """Each line that is no hash names a package; a server to download from is not named."""
    lines = (LOCKS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    packages = [line for line in lines if not line.startswith(("#", "    --hash=sha256:"))]
    assert len(packages) == len(locked(name)) > 0
    assert [package for package, (_, hashes) in locked(name).items() if not hashes] == []
    assert [line for line in lines if "://" in line or "index" in line.split("==")[0]] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "s3-server"])
def test_a_lock_has_what_is_required(name: str) -> None:
    """In a version that `pyproject.toml` allows."""
    found = locked(name)
    missing = [
        text
        for text in _required()[name]
        for required in [Requirement(text)]
        if (known := found.get(canonicalize_name(required.name))) is None
        or known[0] not in required.specifier
    ]
    assert missing == []


def test_every_pin_is_locked() -> None:
    """What nothing needs is not pinned; pins are in order."""
    needed = set(chain.from_iterable(locked(name) for name in NAMES if name != "s3-server"))
    assert sorted(set(pinned()) - needed) == []
    names = [line.partition("==")[0] for line in CONSTRAINTS.read_text().splitlines()]
    assert names == sorted(set(names))
