"""How much memory Spark's Java gets, and what is said when it was too little."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    ("text", "said"),
    [
        ("Job aborted: java.lang.OutOfMemoryError: Java heap space\n\tat org...", "Spark ran out"),
        ("File x\nMemoryError\n", "Python's workers ran out"),
        ("pyarrow.lib.ArrowMemoryError: malloc of size 64 failed", "Python's workers ran out"),
        ("SparkException: Python worker exited unexpectedly (crashed)", "was killed from outside"),
        ("Answer from Java side is empty", "was killed from outside"),
    ],
)
def test_too_little_memory_is_one_line_with_the_fix(text: str, said: str) -> None:
    """Who ran out of it, how much there is, and what to set."""
    found = memory.too_little(RuntimeError(text), "512m")
    assert found is not None
    assert said in str(found)
    assert "512m" in str(found)
    assert memory.DRIVER in str(found)
    assert "\n" not in str(found)


def test_memory_of_a_server_is_its_owners() -> None:
    """What this machine has does not matter; the line says where to set it."""
    found = memory.too_little(RuntimeError("java.lang.OutOfMemoryError"), None)
    assert str(found).startswith("Spark ran out of memory (on the Spark Connect server). Start it")
    assert "spark.executor.memory" in str(found)


def test_other_problems_are_not_blamed_on_memory() -> None:
    """They keep their own words."""
    assert memory.too_little(RuntimeError("AnalysisException: no such column"), "1g") is None
