"""A point measured on both sides, and whether both gave the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.cli.assign_cases import answer, read_case
from tests.benchmarks.measure import Measured, measure
from tests.benchmarks.points import Point, after, before, build
from tests.oracle.groups import Case
from tests.oracle.judge import difference
from tests.oracle.jvm import Jvm

HEAP = "4g"
PATIENCE_SECONDS = 600
HEADINGS = (
    *("point", "strategy", "members x partitions x topics", "scene"),
    *("Kafka ms", "evenkeel ms", "ratio", "asked", "", "peak MiB"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    What came of one scene of a point.

    Attributes:
        point, scene, asked: What was measured, and the ratio asked for.
        kafka: Milliseconds of Kafka's class, None where there is none or no JVM.
        ours: Time and memory of ours, None where there is no such strategy yet.
        differs: What differs between the answers; empty when nothing does.
    """

    point: Point
    scene: str
    asked: Fraction | None
    kafka: float | None
    ours: Measured | None
    differs: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as fast as Kafka's class ours is."""
        if self.kafka is None or self.ours is None:
            return None
        return self.kafka / self.ours.milliseconds

    @property
    def verdict(self) -> str:
        """`reached`, `missed`, or why neither can be said."""
        if self.differs:
            return "other answer"
        if self.ratio is None or self.asked is None:
            return "-"
        return "reached" if self.ratio >= self.asked else "missed"

    def cells(self) -> list[str]:
        """The row as text, a cell per heading of `HEADINGS`."""
        ours, ratio = self.ours, self.ratio
        return [
            *(self.point.name, self.point.strategy, self.point.size, self.scene),
            _three_figures(self.kafka),
            _three_figures(ours.milliseconds if ours else None),
            "-" if ratio is None else f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}",
            "-" if self.asked is None else str(self.asked),
            self.verdict,
            f"{ours.peak_mib:,.0f}" if ours else "-",
        ]


def rows(point: Point, *, java: bool = True) -> Iterator[Row]:
    """
    Each scene of a point, Kafka's side first; a JVM of its own, so that no point profits from another.

    Args:
        point: What to measure.
        java: Whether Kafka's classes are asked.
    """
    case = build(point)
    with Jvm(heap=HEAP) if java else nullcontext() as jvm:
        for scene, asked in point.asked.items():
            group = _scene(case, scene, jvm)
            theirs = _theirs(group, point, jvm)
            kafka = theirs["milliseconds"] if theirs else None
            ours, differs = None, ""
            if group is not None and point.strategy in ASSIGNORS:
                ours = _ours(group, point)
                differs = difference(group, theirs, answer(group)) if theirs else ""
            yield Row(
                point=point, scene=scene, asked=asked, kafka=kafka, ours=ours, differs=differs
            )


def _scene(case: Case, scene: str, jvm: Jvm | None) -> Case | None:
    """The group of a scene; None where nobody can say what its members owned."""
    past = before(case, scene)
    if past is None:
        return case
    if jvm is not None:
        return after(case, scene, jvm.ask(past, PATIENCE_SECONDS))
    return after(case, scene, answer(past)) if case["strategy"] in ASSIGNORS else None


def _theirs(group: Case | None, point: Point, jvm: Jvm | None) -> dict[str, Any] | None:
    if jvm is None or group is None:
        return None
    timed = {**group, "repeat": point.repeat, "warm_up": point.warm_up}
    return jvm.ask(timed, PATIENCE_SECONDS)


def _ours(group: Case, point: Point) -> Measured:
    """Ours, on a group that has worked nothing out before."""
    read, strategy = read_case(group)
    call = ASSIGNORS[strategy].assign
    return measure(call, lambda: replace(read), point.repeat, min(point.warm_up, 3))


def _three_figures(value: float | None) -> str:
    """Three figures that mean something, whole numbers from a hundred on."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
