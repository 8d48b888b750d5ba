"""
The environment of a cluster's workers, as one archive that Spark unpacks beside every executor.

It holds what the engine's steps import and no more: Spark brings its own pyspark, and Airflow, Great Expectations and
the client libraries stay where the driver is. `bin/python` is a few lines of shell: it finds a Python of the same minor
version on the worker and lets it see `lib`, so that the archive works in whatever folder it is unpacked. Where Numba is
in it, so are the compiled forms that are kept here, beside their source: they fit any processor of the same kind.

    bin/python   lib/evenkeel/...   lib/numpy/...   environment.json
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import json
import os
import re
import sys
import tarfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

from evenkeel.engine.assignors import ENTRY_POINTS
from evenkeel.engine.cli import ahead
from evenkeel.engine.cli.files import replacing
from evenkeel.engine.environment import python_version, this_environment
from evenkeel.engine.errors import InputError

OURS = "evenkeel"

COMPILER = "numba"
"""What reads compiled forms; without it nobody does."""

LEFT_OUT = frozenset(
    {
        "apache-airflow",
        "apache-airflow-providers-apache-kafka",
        "apache-airflow-providers-postgres",
        "apache-airflow-providers-slack",
        "apache-airflow-providers-standard",
        "great-expectations",
        "jinja2",
        "kafka-python",
        "matplotlib",
        "psycopg",
        "pyspark",
        "rich",
        "slack-sdk",
        "sqlalchemy",
        "typer",
    }
)
"""Requirements of ours that no worker needs: they talk to services or to people, or Spark brings them."""

_LARGE = frozenset({"llvmlite", "numba", "numpy", "ortools", "pandas", "pyarrow", "scipy"})
_UNUSED_FOLDERS = frozenset({"include", "tests"})
"""Of large packages: what nobody imports outside of their own development."""

_LAUNCHER = """\
#!/bin/sh
# A Python {version} of this machine with the modules of ../lib; made by `evenkeel pack`.
home=$(cd "$(dirname "$0")/.." && pwd -P)
for python in {first} python{version} python3; do
  if "$python" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "{version}")' 2>/dev/null; then
    PYTHONPATH="$home/lib${{PYTHONPATH:+:$PYTHONPATH}}" exec "$python" -s "$@"
  fi
done
echo "there is no Python {version} on $(hostname)" >&2
exit 127
"""


@dataclass(frozen=True)
class Content:
    """
    What goes into an archive.

    Attributes:
        packages: Name and version of each distribution, sorted.
        files: Name below `lib` and where it is now.
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
    left_out = LEFT_OUT | {_plain(name) for name in without}
    gathered: dict[str, Distribution] = {}
    for name in (OURS, *_of_strategies(), *more):
        _gather(name, left_out, gathered)
    packages = [f"{each.name} {each.version}" for each in gathered.values()]
    files = {name: path for each in gathered.values() for name, path in _files(each)}
    if COMPILER in gathered:
        files |= {PurePosixPath(OURS, name): path for name, path in ahead.kept_files()}
    return Content(tuple(sorted(packages, key=str.lower)), tuple(sorted(files.items())))


def write(target: Path, held: Content) -> None:
    """
    Write the archive, under another name first.

    Raises:
        InputError: The file cannot be written.
    """
    about = json.dumps(this_environment().to_json() | {"packages": held.packages}, indent=1)
    # of level 1: the rest is a few hundredths smaller and takes three times as long
    with (
        replacing(target) as partial,
        tarfile.open(partial, "w:gz", compresslevel=1, dereference=True) as archive,
    ):
        _add_text(archive, "environment.json", about, 0o644)
        _add_text(archive, "bin/python", launcher(), 0o755)
        for name, path in held.files:
            archive.add(path, f"lib/{name}", recursive=False, filter=_anonymous)


def launcher() -> str:
    """What stands in `bin/python`: it tries the interpreter of this machine first."""
    first = getattr(sys, "_base_executable", None) or sys.executable
    return _LAUNCHER.format(version=python_version(), first=_quoted(first))


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _of_strategies() -> list[str]:
    """The distributions that bring custom strategies."""
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    return [point.dist.name for point in points if point.dist is not None]


def _gather(name: str, left_out: Collection[str], distributions: dict[str, Distribution]) -> None:
    """Add a distribution and what it requires."""
    if _plain(name) in distributions:
        return
    try:
        each = importlib.metadata.distribution(name)
    except PackageNotFoundError:
        raise InputError(
            f"package {name!r} is not installed here.",
            fix="Install it, or leave it out (--without).",
        ) from None
    distributions[_plain(name)] = each
    for text in each.requires or ():
        needed = Requirement(text)
        wanted = needed.marker is None or needed.marker.evaluate({"extra": ""})
        if wanted and _plain(needed.name) not in left_out:
            _gather(needed.name, left_out, distributions)


def _plain(name: str) -> str:
    """A package's name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _files(each: Distribution) -> Iterator[tuple[PurePosixPath, Path]]:
    """A distribution's files, as they lie beside those of the others."""
    for listed in each.files or ():
        name = PurePosixPath(listed.as_posix())
        path = Path(str(each.locate_file(listed)))
        if _is_wanted(name) and path.is_file():
            yield name, path
    if _is_editable(each):
        for package in sorted(_packages(each)):
            yield from _linked(package)


def _is_wanted(name: PurePosixPath) -> bool:
    if name.is_absolute() or ".." in name.parts or name.suffix in (".pth", ".pyc"):
        return False
    if name.parent.suffix == ".dist-info":
        return name.name in ("METADATA", "entry_points.txt")
    return not (name.parts[0] in _LARGE and _UNUSED_FOLDERS & set(name.parts[1:-1]))


def _is_editable(each: Distribution) -> bool:
    said = json.loads(each.read_text("direct_url.json") or "{}")
    return bool(said.get("dir_info", {}).get("editable"))


def _packages(each: Distribution) -> set[str]:
    """Names of the packages of an editable install: what its entry points name, and its own name."""
    named = {point.module.partition(".")[0] for point in each.entry_points}
    return named | {each.name.replace("-", "_")}


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


def _add_text(archive: tarfile.TarFile, name: str, text: str, mode: int) -> None:
    about = tarfile.TarInfo(name)
    about.size, about.mode = len(text.encode()), mode
    archive.addfile(about, io.BytesIO(text.encode()))


def _anonymous(about: tarfile.TarInfo) -> tarfile.TarInfo:
    """A file that belongs to nobody in particular and may be read by all."""
    about.uid = about.gid = 0
    about.uname = about.gname = ""
    about.mode |= 0o444
    return about
