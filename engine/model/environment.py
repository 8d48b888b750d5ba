"""
The environment of this process: versions of Python and evenkeel, and a hash of the source.

Workers of a cluster must have the same environment: pickled functions depend on the minor version of Python, and other
versions of evenkeel may give other results.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import evenkeel

DOING: ContextVar[str] = ContextVar("DOING", default="")
"""The verb or step that is under way: others on the database server see it beside our sessions."""

RUNS = (".py", ".sql")
"""Suffixes of the files of the package that affect results."""


@dataclass(frozen=True, slots=True)
class Environment:
    """
    An interpreter and our code in it.

    Attributes:
        python: Major and minor version, `3.11`.
        version: Of evenkeel.
        source: Hash of its modules, twelve hex digits: one version is many while it is being worked on.
    """

    python: str
    version: str
    source: str

    def to_json(self) -> dict[str, str]:
        """As JSON-able values."""
        return asdict(self)


def python_version() -> str:
    """Major and minor version of this interpreter."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


@cache
def this_environment() -> Environment:
    """That of this process."""
    digest = hashlib.sha256()
    root = source_folder()
    for path in sorted(source_files(root)):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    version = importlib.metadata.version("evenkeel")
    return Environment(python_version(), version, digest.hexdigest()[:12])


def source_folder() -> Path:
    """The package's folder, as imported."""
    return Path(evenkeel.__file__).parent


def source_files(root: Path) -> Iterator[Path]:
    """Modules and SQL below the package's folder, its links followed."""
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (Path(folder, name) for name in names if name.endswith(RUNS))
