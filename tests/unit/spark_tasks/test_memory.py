"""How much memory Spark's Java gets, and what is said when it was too little."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenkeel.engine.model.errors import ConfigError
from evenkeel.spark_tasks import memory


@pytest.mark.parametrize(
    ("gib", "given"), [(0.5, "640m"), (4, "1024m"), (8, "2048m"), (256, "4096m")]
)
def test_java_gets_a_quarter_within_bounds(gib: float, given: str) -> None:
    """Of the machine's; what the user has set stays."""
    assert memory.driver_options({}, int(gib * (1 << 30))) == {memory.DRIVER: given}
    assert memory.driver_options({memory.DRIVER: "1g"}, int(gib * (1 << 30))) == {}


def test_the_limit_of_a_container_counts(tmp_path: Path) -> None:
    """Of several the smallest; `max` is none, a file that is not there is none."""
    whole = memory.machine_bytes([])
    none, limit = tmp_path / "none", tmp_path / "limit"
    none.write_text("max\n")
    limit.write_text(f"{1 << 29}\n")
    assert memory.machine_bytes([str(none), str(tmp_path / "absent")]) == whole > 1 << 29
    assert memory.machine_bytes([str(none), str(limit)]) == 1 << 29


@pytest.mark.parametrize(
    ("text", "ended", "local", "said", "setting"),
    [
        ("x: java.lang.OutOfMemoryError: Java heap space\n\tat y", None, True, "Java ran out", memory.DRIVER),
        ("x: java.lang.OutOfMemoryError: Java heap space", None, False, "Java ran out", memory.EXECUTOR),
        ("Answer from Java side is empty", 52, False, "Java ran out", memory.DRIVER),
        ("File x\nMemoryError\n", None, True, "Python worker of Spark ran out", "local[1]"),
        ("ArrowMemoryError: malloc of size 64 failed", None, True, "Python worker of Spark ran out", "local[1]"),
        ("MemoryError", None, False, "Python worker of Spark ran out", memory.OVERHEAD),
        ("Python worker exited unexpectedly (crashed)", None, True, "a worker of Spark was killed", "local[1]"),
        ("ExecutorLostFailure (executor 1 exited)", None, False, "a worker of Spark was killed", memory.OVERHEAD),
        ("Answer from Java side is empty", -9, True, "Spark's Java was killed", "local[1]"),
    ],
)  # fmt: skip
def test_too_little_memory_is_one_line_with_the_fix(
    text: str, ended: int | None, local: bool, said: str, setting: str
) -> None:
    """Who ran out of it, how much there is, and what to set: on a cluster its executors' setting."""
    line = str(memory.too_little(RuntimeError(text), "512m", ended, local=local))
    assert said in line
    assert "Spark's Java has 512m here, the machine" in line
    assert setting in line.partition("GiB). ")[2]
    assert "\n" not in line


def test_the_cause_is_found_behind_what_followed_from_it() -> None:
    """When Java is gone nobody answers, and the words of what it threw cannot be asked for."""

    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise ConnectionRefusedError

    def ask() -> None:
        try:
            raise RuntimeError("Answer from Java side is empty")
        except RuntimeError as problem:
            raise Unspeakable from problem

    with pytest.raises(Unspeakable) as raised:
        ask()
    assert "killed" in str(memory.too_little(raised.value, "1g"))


def test_less_than_spark_starts_with_is_refused_at_once() -> None:
    """One line with the setting, before a JVM says it in thirty; what is no size is left to Spark."""
    with pytest.raises(
        ConfigError, match=r"^spark.driver.memory is 300m, .* 480m. Set it in spark-def"
    ):
        memory.check("300m")
    for given in ("480m", "1g", "much"):
        memory.check(given)


def test_a_java_that_does_not_start_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With too little memory for it, its own first line is told; without Java that is not the reason."""
    line = str(memory.not_started("1m"))
    assert "Spark's Java ended at once: Too small maximum heap" in line
    assert "Decrease spark.driver.memory in spark-defaults.conf" in line
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert memory.not_started("1m") is None


def test_memory_of_a_server_is_its_owners() -> None:
    """What this machine has does not matter; the line says where to set it."""
    found = memory.too_little(RuntimeError("java.lang.OutOfMemoryError"), None)
    assert str(found).startswith(
        "Spark's Java ran out of memory (on the Spark Connect server). Start it"
    )
    assert "spark.executor.memory" in str(found)


def test_other_problems_are_not_blamed_on_memory() -> None:
    """They keep their own words."""
    assert memory.too_little(RuntimeError("AnalysisException: no such column"), "1g") is None
