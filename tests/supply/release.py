"""
``python -m tests.supply.release [--offline]``: build a release into ``dist``, each part tried where nothing else is.

A release is the wheel, the sdist, the jar of the Java assignors, the bill of materials, the pins, the notes (made from
the section of CHANGELOG.md) and the sums of them all. The version stands in pyproject.toml. The same commit, packages
and compiler make the same bytes. What is in ``dist`` is replaced at the end, if nothing is refused.

Two steps need a package index: the wheel installed alone, and the extras resolved. ``--offline`` leaves them out; then
the notes say so, and the exit code is `NOT_CHECKED`. The jar needs a JDK, and Kafka's jars, which are downloaded once.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.parser import BytesParser
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from tests.helpers.tools import tool
from tests.stage.process import LocalClusterError
from tests.supply.pins import CONSTRAINTS, ROOT
from tests.tiers import NOT_CHECKED

DIST = ROOT / "dist"
NOTES, SUMS = "RELEASE_NOTES.md", "SHA256SUMS"
OURS_ALONE = frozenset({"local", "test"})
"""Extras for whoever works on evenkeel."""
UNWANTED = frozenset({"tests", ".evenkeel", ".venv", ".git", "__pycache__"})
"""Files and folders that are in no release."""
RECORDING = str(ROOT / "tests" / "data" / "cluster-recording.evenkeel")
ASKED = (("--version",), ("lag", "--from", RECORDING), ("advise", "--from", RECORDING))


class Refused(Exception):
    """There is no release; one line that names what is wrong and what to do."""


@dataclass(frozen=True)
class Source:
    """What is released."""

    version: str
    commit: str
    at: datetime
    """When it was committed."""
    heading: str
    """What stands behind the version in CHANGELOG.md."""
    changes: str
    """Its section, without the heading."""


def source(root: Path = ROOT) -> Source:
    """
    What is committed.

    Raises:
        Refused: Something is not, or the version has no section in CHANGELOG.md.
    """
    changed = _said(("git", "status", "--porcelain"), root).splitlines()
    if changed:
        more = f" and {len(changed) - 1:,} more" if changed[1:] else ""
        raise Refused(f"not committed: {changed[0][3:]}{more}; commit or remove what is not")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    commit, seconds = _said(("git", "log", "-1", "--format=%h %ct"), root).split()
    at = datetime.fromtimestamp(int(seconds), UTC)
    return Source(project["version"], commit, at, *section(text, project["version"]))


def section(changelog: str, version: str) -> tuple[str, str]:
    """
    What stands behind a version in its heading, and below it.

    Raises:
        Refused: There is no such section, or nothing in it.
    """
    heading = rf"^## {re.escape(version)}(?![\w.])(.*)\n((?:(?!## ).*\n?)*)"
    found = re.search(heading, changelog, re.MULTILINE)
    if found is None or not found[2].strip():
        raise Refused(f"CHANGELOG.md says nothing below '## {version}': add what users notice")
    return found[1].strip(" -()"), found[2].strip()


def build(root: Path, folder: Path, at: datetime, *targets: str) -> list[Path]:
    """The wheel and the sdist that a source tree makes, or the one that is asked for."""
    asked = [word for target in targets or ("wheel", "sdist") for word in ("-t", target)]
    command = (sys.executable, "-m", "hatchling", "build", *asked, "-d", str(folder))
    _said(command, root, {**os.environ, "SOURCE_DATE_EPOCH": str(int(at.timestamp()))})
    return [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]


def check_sdist(sdist: Path, wheel: Path, at: datetime) -> None:
    """
    Build the wheel again from the unpacked sdist.

    Raises:
        Refused: It is not the wheel of the tree.
    """
    with TemporaryDirectory(prefix="evenkeel-sdist-") as folder:
        with tarfile.open(sdist) as packed:
            packed.extractall(folder, filter="data")
        (tree,) = Path(folder).iterdir()
        (again,) = build(tree, Path(folder) / "dist", at, "wheel")
        names, others = ({name for name, _ in held(each)} for each in (wheel, again))
        if names != others:
            different = ", ".join(sorted(names ^ others)[:3])
            raise Refused(
                f"{sdist.name} makes a wheel of other files ({different}): see [tool.hatch]"
            )
        if wheel.read_bytes() != again.read_bytes():
            raise Refused(f"{sdist.name} makes another wheel of the same files: build once more")


def held(file: Path) -> Iterator[tuple[str, bytes]]:
    """The files in an archive, by name; of what is none, itself."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as packed:
            yield from ((name, packed.read(name)) for name in packed.namelist())
    elif tarfile.is_tarfile(file):
        with tarfile.open(file) as unpacked:
            for each in unpacked.getmembers():
                content = unpacked.extractfile(each)
                yield each.name, content.read() if content else b""
    else:
        yield file.name, file.read_bytes()


def check_content(file: Path, places: Collection[Path]) -> None:
    """
    Look into a file of the release.

    Args:
        file: It.
        places: Folders of this machine, which say nothing to users.

    Raises:
        Refused: It holds what it must not.
    """
    for name, content in held(file):
        if unwanted := UNWANTED & set(PurePosixPath(name).parts):
            raise Refused(f"{file.name} holds {name}: leave {min(unwanted)} out in pyproject.toml")
        for place in places:
            if place != place.parent and f"{place}/".encode() in content:
                raise Refused(f"{file.name} names {place} of this machine in {name}: remove it")


def installed(wheel: Path, home: Path) -> Path:
    """
    A new environment with the wheel, what it requires as pinned, and no more; it needs a package index.

    Returns:
        Its program `evenkeel`.

    Raises:
        Refused: It cannot be installed.
    """
    venv.create(home, with_pip=False)
    _install(home, str(wheel))
    return home / "bin" / "evenkeel"


def check_alone(wheel: Path, home: Path) -> None:
    """
    Ask the wheel in a new environment; it needs a package index.

    Raises:
        Refused: It does not answer.
    """
    program = installed(wheel, home)
    kept = {k: v for k, v in os.environ.items() if not re.match("PYTHON|EVENKEEL", k)}
    for words in ASKED:
        if not _said((str(program), *words), home, kept).strip():
            raise Refused(f"evenkeel {words[0]} prints nothing in an empty environment")


def check_extras(wheel: Path, home: Path) -> None:
    """
    Resolve all extras of users, in an environment that stays as it is; it needs a package index.

    Raises:
        Refused: What they require does not go together as pinned.
    """
    _install(home, "--dry-run", f"{wheel}[{','.join(extras(wheel))}]")


def extras(wheel: Path) -> list[str]:
    """The extras of a wheel that are for users."""
    (metadata,) = (content for name, content in held(wheel) if name.endswith("/METADATA"))
    every = BytesParser().parsebytes(metadata).get_all("Provides-Extra", [])
    return sorted(set(every) - OURS_ALONE)


def _install(home: Path, *words: str) -> None:
    python, pip = str(home / "bin" / "python"), (sys.executable, "-m", "pip")
    index = subprocess.run(
        (*pip, "config", "get", "global.index-url"), capture_output=True, text=True
    )
    uv = tool("uv")  # it does not read what pip is set to
    command = (
        (uv, "pip", "install", "--python", python) if uv else (*pip, "--python", python, "install")
    )
    environment = {**os.environ, "UV_DEFAULT_INDEX": index.stdout.strip()}
    try:
        _said((*command, "--quiet", "-c", str(CONSTRAINTS), *words), home, environment)
    except Refused as problem:
        raise Refused(f"{problem} (without a package index: make release OFFLINE=1)") from None


def notes(source: Source, files: Sequence[Path], unchecked: Sequence[str] = ()) -> str:
    """What users read of a release: how to install it, its files, what is new, and what was not checked."""
    wheel = f"evenkeel-{source.version}-py3-none-any.whl"
    rows = [f"| `{each.name}` | {each.stat().st_size:,} | `{_sum(each)}` |" for each in files]
    changes = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", source.changes)
    state = ", unreleased" if source.heading == "unreleased" else ""
    lines = [
        f"# evenkeel {source.version}",
        "",
        f"Commit {source.commit} of {source.at:%Y-%m-%d}{state}.",
        "",
        "## Install",
        "",
        "Download the files, check them with `sha256sum --check --ignore-missing SHA256SUMS`, then install:",
        "",
        f"    pip install -c constraints.txt ./{wheel}              # the command line",
        f"    pip install -c constraints.txt './{wheel}[pipeline]'  # Airflow, Spark and history",
        "",
        "Python 3.11 or newer. `constraints.txt` has the versions that evenkeel is tested with.",
        "The jar has the assignors for consumers (Java 11, kafka-clients 3.5 or newer) and for brokers (Java 17).",
        "",
        "## Files",
        "",
        "| file | bytes | SHA-256 |",
        "| --- | ---: | --- |",
        *rows,
        "",
        "## Changes",
        "",
        changes,
    ]
    if unchecked:
        lines += ["", "## Not checked", "", *(f"* {each}" for each in unchecked)]
    return "\n".join(lines) + "\n"


def sums(files: Sequence[Path]) -> str:
    """As `sha256sum --check` reads them."""
    return "".join(f"{_sum(each)}  {each.name}\n" for each in files)


def _sum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def make(source: Source, folder: Path, offline: bool) -> list[str]:
    """
    Build a release into an empty folder and check it.

    Returns:
        What was not checked.

    Raises:
        Refused: Something is not as it must be.
        LocalClusterError: The jar cannot be built.
    """
    # what this writes with is there for `make release` and the nightly tests only
    from tests.supply import jar, sbom

    wheel, sdist = build(ROOT, folder, source.at)
    print(f"built {wheel.name} and {sdist.name}")
    check_sdist(sdist, wheel, source.at)
    print(f"{sdist.name}, unpacked, makes the same wheel")
    archive = jar.build(folder, source.version, source.at)
    with TemporaryDirectory(prefix="evenkeel-release-") as home:
        try:
            wrong = [*jar.wrong(archive, Path(home) / "jvm.log")]
        except LocalClusterError as problem:
            raise Refused(f"{archive.name} does not answer: {problem}") from None
        if wrong:
            raise Refused(f"{archive.name} does not answer as evenkeel does: {wrong[0]}")
        print(f"{archive.name} answers in a JVM as evenkeel does")
        unchecked = []
        if offline:
            unchecked.append(
                "The wheel in an empty environment, and its extras: no package index was there."
            )
        else:
            alone = Path(home) / "alone"
            check_alone(wheel, alone)
            print(f"{wheel.name} answers in an empty environment")
            check_extras(wheel, alone)
            print(f"its extras resolve: {', '.join(extras(wheel))}")
    try:
        bill = sbom.beside(wheel, source.at)
    except sbom.NotAsPinned as problem:
        raise Refused(f"{problem}: make install") from None
    pins = Path(shutil.copy(CONSTRAINTS, folder))
    files = [wheel, sdist, archive, bill, pins]
    (folder / NOTES).write_text(notes(source, files, unchecked), encoding="utf-8")
    files.append(folder / NOTES)
    for each in files:
        check_content(each, (ROOT, Path.home()))
    (folder / SUMS).write_text(sums(files), encoding="utf-8")
    return unchecked


def _said(command: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """
    What a program prints.

    Raises:
        Refused: It fails; with the last it says.
    """
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        what = " ".join((Path(command[0]).name, *command[1:3]))
        raise Refused(f"{what} fails: {last.strip()}")
    return done.stdout


def main(words: Sequence[str] | None = None) -> int:
    """Build a release; the program's exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.supply.release")
    parser.add_argument(
        "--offline", action="store_true", help="leave out what needs a package index"
    )
    options = parser.parse_args(words)
    with TemporaryDirectory(prefix="evenkeel-dist-") as made:
        try:
            unchecked = make(source(), Path(made), options.offline)
        except (Refused, LocalClusterError) as problem:
            print(f"no release: {problem}", file=sys.stderr)
            return 1
        DIST.mkdir(exist_ok=True)
        for old in (*DIST.glob("evenkeel-*"), DIST / NOTES, DIST / SUMS):
            old.unlink(missing_ok=True)
        for each in sorted(Path(made).iterdir()):
            print(f"{shutil.move(each, DIST / each.name).relative_to(ROOT)}")
    for each in unchecked:
        print(f"NOT CHECKED: {each}", file=sys.stderr)
    return NOT_CHECKED if unchecked else 0


if __name__ == "__main__":
    sys.exit(main())
