"""The commands of the Makefile: what it lists, and what it says of a machine that lacks something."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
TARGETS = [
    "help",
    "install",
    "browser",
    "tools",
    "demo",
    "stop",
    "test",
    "test-fast",
    "test-nightly",
    "lint",
    "docs",
    "lock",
    "sbom",
    "release",
    "oracle",
    "bench",
    "bench-fleet",
    "kafka",
    "clean",
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with what an installation reads, and a folder `bin` of fake programs."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(CHECKOUT / name, tmp_path)
    shutil.copytree(CHECKOUT / ".ci" / "locks", tmp_path / ".ci" / "locks")
    (tmp_path / "bin").mkdir()
    return tmp_path


def program(checkout: Path, name: str, script: str) -> None:
    """Put a fake program on the path."""
    path = checkout / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def make(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run make with the fake programs first on the path, and no JAVA_HOME."""
    kept = {k: v for k, v in os.environ.items() if k != "JAVA_HOME" and not k.startswith("MAKE")}
    return subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=checkout,
        env={**kept, "PATH": f"{checkout / 'bin'}{os.pathsep}{kept['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_make_alone_lists_every_command(checkout: Path) -> None:
    """Each target comes with a sentence on what it is for."""
    lines = make(checkout).stdout.splitlines()
    found = [re.fullmatch(r"  make (\S+) +(\S.+)", line) for line in lines]
    assert [match[1] for match in found if match] == TARGETS
    assert len(lines) == len(TARGETS)


@pytest.mark.parametrize(
    ("target", "answer", "found"),
    [
        ("demo", "echo 'openjdk version \"11.0.2\" 2019' >&2", "11"),
        ("demo", "echo 'java version \"1.8.0_392\"' >&2", "8"),
        *(
            (target, "exit 127", "none")
            for target in (
                *("demo", "test", "test-nightly", "release", "oracle", "bench", "bench-fleet"),
                "kafka",
            )
        ),
    ],
)
def test_an_old_java_is_one_line(checkout: Path, target: str, answer: str, found: str) -> None:
    """Java before 17, or none, ends at once with what to install."""
    program(checkout, "java", answer)
    done = make(checkout, target)
    (line, *_) = done.stderr.splitlines()
    assert f"needs Java >= 17 (found: {found}): install it" in line
    assert done.returncode != 0
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("banner", ['openjdk version "17.0.15" 2025', 'openjdk version "21" 2023'])
def test_a_new_java_is_fine(checkout: Path, banner: str) -> None:
    """Java 17 and newer go through, whatever the form of their version."""
    program(checkout, "java", f"echo '{banner}' >&2")
    assert make(checkout, "java").returncode == 0


def test_an_old_python_is_one_line(checkout: Path) -> None:
    """Python before 3.11 ends at once with what to install."""
    program(checkout, "oldpython", "exit 1")
    done = make(checkout, "install", "PYTHON=oldpython missingpython")
    (line, *_) = done.stderr.splitlines()
    assert "needs Python >= 3.11: install it" in line
    assert done.returncode != 0
    assert not (checkout / ".venv").exists()


@pytest.fixture(params=[("exit 0", "uv"), ("exit 1", "pip")], ids=["uv", "pip alone"])
def asked(checkout: Path, request: pytest.FixtureRequest) -> tuple[str, list[str]]:
    """Who installs the packages, and what pip and uv are asked for in turn; the command line needs no Java."""
    uv, by = request.param
    program(checkout, "java", "exit 127")
    for name, script in {"pip": "echo pip $* >> asked", "uv": f"echo uv $* >> asked; {uv}"}.items():
        program(checkout, name, script)
    program(checkout, "python", 'if [ "$2" = venv ]; then mkdir .venv; fi')
    assert make(checkout, "install", "PYTHON=python").returncode == 0
    return by, (checkout / "asked").read_text().splitlines()


def test_what_is_installed_is_compiled(asked: tuple[str, list[str]]) -> None:
    """Each of a run's many processes loads it; pip compiles by itself, uv only when asked."""
    by, lines = asked
    *_, last = (line for line in lines if ".ci/locks/test.txt" in line)
    assert last.split()[0] == by
    assert ("--compile-bytecode" in last, "--no-compile" in last) == (by == "uv", False)


def test_what_is_installed_is_what_is_locked(asked: tuple[str, list[str]]) -> None:
    """Packages by their hashes alone; then the project, which has none, without the packages it names."""
    _, lines = asked
    *packages, project = (set(line.split()) for line in lines if "install" in line.split())
    assert [each for each in packages if not {"--require-hashes", "--no-deps"} <= each] == []
    assert project >= {"-e", ".", "--no-deps", "--no-build-isolation"}


def test_what_is_installed_is_not_installed_again(checkout: Path) -> None:
    """A second installation does nothing until what it depends on has changed."""
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "installed").touch()
    done = make(checkout, "install", "PYTHON=missingpython")
    assert done.returncode == 0
    assert done.stdout.startswith(
        "Installed in .venv; next: .venv/bin/evenkeel --help, or make demo"
    )
    os.utime(checkout / "constraints.txt", (2**32, 2**32))
    assert make(checkout, "install", "PYTHON=missingpython").returncode != 0


def test_stopping_and_cleaning_need_no_installation(checkout: Path) -> None:
    """Where nothing is installed there is nothing to stop, and only state to remove."""
    (checkout / ".evenkeel").mkdir()
    assert make(checkout, "stop").returncode == 0
    assert make(checkout, "clean").returncode == 0
    assert not (checkout / ".evenkeel").exists()


@pytest.mark.parametrize(
    ("there", "code", "said"),
    [
        ((), 1, ["No promtool: this is no Debian", "No helm: no Debian has it; install Go"]),
        (("apt-get", "go"), 1, ["No promtool: Debian's prometheus", "No helm: Go cannot build"]),
        (("promtool", "helm"), 0, ["promtool: ", "helm: "]),
    ],
)
def test_a_tool_that_cannot_be_had_is_one_line(
    checkout: Path, there: tuple[str, ...], code: int, said: list[str]
) -> None:
    """Neither root nor a service is needed; what is there already is left alone."""
    shutil.copy(CHECKOUT / ".ci" / "tools", checkout / ".ci")
    for name in ("bash", "dirname", "id", "mkdir", "mktemp", "rm", "timeout"):
        (checkout / "bin" / name).symlink_to(str(shutil.which(name)))
    for name in there:
        program(checkout, name, "exit 1")
    done = subprocess.run(
        ["bash", str(checkout / ".ci" / "tools")],
        env={"PATH": str(checkout / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [*done.stderr.splitlines(), *done.stdout.splitlines()[-2 * (code == 0) :]]
    assert done.returncode == code
    assert [line.startswith(start) for line, start in zip(lines, said, strict=False)] == [True] * 2
