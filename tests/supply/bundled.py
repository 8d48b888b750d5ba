"""What others wrote and the wheel carries: name, version, license and files, each with its hash."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.supply.pins import ROOT

ROOMS = ("dags", "engine", "expectations", "spark_tasks", "sql")
"""The folders that a wheel carries."""


@dataclass(frozen=True)
class Bundled:
    """One piece of software, unchanged from its release."""

    name: str
    version: str
    license: str
    """As SPDX writes it."""
    package: str
    """Its package URL without the version."""
    home: str
    files: Mapping[str, str]
    """The SHA-256 of each file, by its path from the top of the repository; the first one names the version."""

    @property
    def purl(self) -> str:
        """Its package URL."""
        return f"{self.package}@{self.version}"


BUNDLED = (
    Bundled(
        "uPlot",
        "1.6.32",
        "MIT",
        "pkg:npm/uplot",
        "https://github.com/leeoniya/uPlot",
        {
            "engine/report/page/uplot.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
            "engine/report/page/uplot.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
            "engine/report/page/uplot.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
        },
    ),
)
"""From their releases, where a file may have another name (dist/uPlot.iife.min.js)."""

_FOREIGN = re.compile(
    r"copyright \(c\)|@license|^/\*!|SPDX-License-Identifier|^.{1000}", re.I | re.M
)
"""What a file says that somebody else wrote, or that a tool has made small."""


def java() -> list[str]:
    """The Java sources that the wheel carries for users to compile; they are evenkeel's own."""
    return sorted(f.relative_to(ROOT).as_posix() for f in (ROOT / "engine").rglob("*.java"))


def foreign() -> Iterator[str]:
    """Files of the wheel that look as if others wrote them."""
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and _looks_foreign(file):
                yield file.relative_to(ROOT).as_posix()


def _looks_foreign(file: Path) -> bool:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return True
    code = file.suffix in (".js", ".css", ".html", ".java")
    return bool(_FOREIGN.search(text)) or (code and ".min." in file.name)
