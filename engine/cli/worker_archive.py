"""
The environment of a cluster's workers, as one archive that Spark unpacks beside every executor.

It is a virtual environment as `venv-pack` makes them: `bin/python` leads to the Python of the worker, wherever the
archive is unpacked. `venv-pack` takes an environment whole, and none that is edited; so a new one is made that holds
what the engine's steps import and no more: Spark brings its own pyspark, and Airflow, Great Expectations and the client
libraries stay where the driver is. Where Numba is in it, so are the compiled forms that are kept here, beside their
source: they fit any processor of the same kind.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import venv
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ..assignors import ENTRY_POINTS
from ..model.environment import python_version
from ..model.errors import InputError
from . import compile_kernels
from .files import replacing

OURS = "evenkeel"

COMPILER = "numba"
"""What reads compiled forms; without it nobody does."""

EXTRAS = ("fast", "spark")
"""Extras of ours whose packages workers use, where they are installed."""

LEFT_OUT = frozenset(
    {
        "google-re2",
        "jinja2",
        "kafka-python",
        "markdown-it-py",
        "pyspark",
        "rich",
        "typer",
        "venv-pack",
    }
)
"""Requirements of ours that no worker needs: they talk to services or to people, or Spark brings them."""

_LARGE = frozenset({"llvmlite", "numba", "numpy", "pandas", "pyarrow", "scipy"})
_UNUSED_FOLDERS = frozenset({"include", "tests"})
"""Of large packages: what nobody imports outside of their own development."""


@dataclass(frozen=True)
class Content:
    """
    What goes into an archive.

    Attributes:
        packages: Name and version of each distribution, sorted.
        files: Name below `site-packages` and where it is now.
    """

    packages: tuple[str, ...]
    files: tuple[tuple[PurePosixPath, Path], ...]

    @property
    def size(self) -> int:
        """Bytes, before they are packed."""
        return sum(path.stat().st_size for _, path in self.files)


def content(more: Iterable[str] = (), without: Iterable[str] = ()) -> Content:
    """
    Gather what workers need: evenkeel, its requirements, and packages that bring custom strategies with theirs.

    Args:
        more: Names of further installed packages.
        without: Names of packages that the workers have by themselves.

    Raises:
        InputError: A package is not installed.
    """
    left_out = LEFT_OUT | {canonicalize_name(name) for name in without}
    gathered: dict[str, Distribution] = {}
    # with the distributions that bring custom strategies
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    for name in (OURS, *(point.dist.name for point in points if point.dist), *more):
        _gather(name, left_out, gathered)
    packages = [f"{each.name} {each.version}" for each in gathered.values()]
    files = {name: path for each in gathered.values() for name, path in _files(each)}
    if COMPILER in gathered:
        files |= {PurePosixPath(OURS, name): path for name, path in compile_kernels.kept_files()}
    return Content(tuple(sorted(packages, key=str.lower)), tuple(sorted(files.items())))


def write(target: Path, held: Content, python_prefix: str | None = None) -> None:
    """
    Write the archive, under another name first.

    Args:
        target: The file.
        held: What goes into it.
        python_prefix: Where the workers' Python is, `/usr` for `/usr/bin/python3.11`; where this one is.

    Raises:
        InputError: The file cannot be written.
    """
    from venv_pack import Env, File

    site = f"lib/python{python_version()}/site-packages"
    with replacing(target) as partial, TemporaryDirectory() as folder:
        partial.touch()
        venv.create(folder, symlinks=True)
        if python_prefix is not None:
            # another interpreter; `venv-pack` has an option for it that spoils the name of ours
            python = Path(python_prefix, "bin", f"python{python_version()}")
            link = Path(folder, "bin", python.name)
            link.unlink()
            link.symlink_to(python)
            told = f"home = {python.parent}\ninclude-system-site-packages = false\n"
            Path(folder, "pyvenv.cfg").write_text(told)
        environment = Env(folder)
        environment.files += [File(str(path), f"{site}/{name}") for name, path in held.files]
        # of level 1: the rest is a few hundredths smaller and takes three times as long
        environment.pack(str(partial), "tar.gz", force=True, compress_level=1)
        partial.chmod(0o644)


def _gather(name: str, left_out: Collection[str], distributions: dict[str, Distribution]) -> None:
    """Add a distribution and what it requires."""
    if canonicalize_name(name) in distributions:
        return
    try:
        each = importlib.metadata.distribution(name)
    except PackageNotFoundError:
        raise InputError(
            f"package {name!r} is not installed here.",
            fix="Install it, or leave it out (--without).",
        ) from None
    distributions[canonicalize_name(name)] = each
    for text in each.requires or ():
        needed = Requirement(text)
        if canonicalize_name(needed.name) not in left_out and _is_needed(needed, of=name):
            _gather(needed.name, left_out, distributions)


def _is_needed(needed: Requirement, of: str) -> bool:
    """Whether a package needs this one; of what our extras name, only what is installed is."""
    if needed.marker is None or needed.marker.evaluate({"extra": ""}):
        return True
    asked = of == OURS and any(needed.marker.evaluate({"extra": extra}) for extra in EXTRAS)
    return asked and any(importlib.metadata.distributions(name=needed.name))


def _files(each: Distribution) -> Iterator[tuple[PurePosixPath, Path]]:
    """A distribution's files, as they lie beside those of the others."""
    for listed in each.files or ():
        name = PurePosixPath(listed.as_posix())
        path = Path(str(each.locate_file(listed)))
        if _is_wanted(name) and path.is_file():
            yield name, path
    said = json.loads(each.read_text("direct_url.json") or "{}")
    if said.get("dir_info", {}).get("editable"):
        named = {point.module.partition(".")[0] for point in each.entry_points}
        for package in sorted(named | {each.name.replace("-", "_")}):
            yield from _linked(package)


def _is_wanted(name: PurePosixPath) -> bool:
    if name.is_absolute() or ".." in name.parts or name.suffix in (".pth", ".pyc"):
        return False
    if name.parent.suffix == ".dist-info":
        return name.name in ("METADATA", "entry_points.txt")
    return not (name.parts[0] in _LARGE and _UNUSED_FOLDERS & set(name.parts[1:-1]))


def _linked(package: str) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files of an importable package or module, wherever they are, links followed."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        return
    if spec.submodule_search_locations is None:
        if spec.origin is not None:
            yield PurePosixPath(Path(spec.origin).name), Path(spec.origin)
        return
    for root in spec.submodule_search_locations:
        for folder, folders, names in os.walk(root, followlinks=True):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for path in (Path(folder, name) for name in names if name != "README.md"):
                yield PurePosixPath(package, path.relative_to(root).as_posix()), path
