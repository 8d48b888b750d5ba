"""What CI installs before it tests: a browser, or a line on why there is none."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.browser import NAMES

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "browser"
APT = 'echo "$*" >> "{log}"; case "$*" in *{failing}*) exit 100;; esac'
ROOT, SOMEBODY = "echo 0", "echo 1000"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with all programs that there are: those of every machine, and `id` of root."""
    for name in ("bash", "timeout"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    program(tmp_path, "id", ROOT)
    return tmp_path


def program(machine: Path, name: str, script: str) -> None:
    """Put a program there."""
    (machine / name).write_text(f"#!/bin/sh\n{script}\n")
    (machine / name).chmod(0o755)


def run(machine: Path) -> subprocess.CompletedProcess[str]:
    """Install a browser there."""
    bash = str(machine / "bash")
    return subprocess.run(
        [bash, str(SCRIPT)], env={"PATH": str(machine)}, capture_output=True, text=True, check=False
    )


def apt(machine: Path, failing: str = "nothing") -> Path:
    """A package manager that succeeds, but for what is called so; the file in which it notes what it was asked."""
    log = machine / "asked"
    program(machine, "apt-get", APT.format(log=log, failing=failing))
    return log


@pytest.mark.parametrize("name", NAMES)
def test_a_browser_that_is_there_is_enough(machine: Path, name: str) -> None:
    """Each that the tests would find; nothing is installed."""
    log = apt(machine)
    program(machine, name, "exit 0")

    done = run(machine)

    assert (done.returncode, done.stdout) == (0, f"Browser: {machine / name}\n")
    assert not log.exists()


def test_root_needs_no_sudo(machine: Path) -> None:
    """The lists of packages are read, then it is downloaded, then installed."""
    log = apt(machine)
    program(machine, "sudo", "exit 1")

    run(machine)

    asked = log.read_text().splitlines()
    assert [line.partition(" update")[1] for line in asked] == [" update", "", ""]
    assert all("--no-install-recommends" in line and "chromium" in line for line in asked[1:])


@pytest.mark.parametrize(
    ("who", "failing", "told"),
    [
        (ROOT, "download", "chromium cannot be downloaded"),
        (ROOT, "no-download", "chromium cannot be installed"),
        (SOMEBODY, "nothing", "that needs root (apt-get install chromium)"),
        (ROOT, None, "this is no Debian; install chromium with its own package manager"),
    ],
)
def test_why_there_is_none_is_one_line(
    machine: Path, who: str, failing: str | None, told: str
) -> None:
    """Without a network, without root, on another distribution: CI goes on, and tests of pages are skipped."""
    program(machine, "id", who)
    if failing is not None:
        apt(machine, failing)

    done = run(machine)

    assert done.stderr == f"No browser: {told}; tests that look at pages are skipped.\n"
    assert done.returncode == 1
