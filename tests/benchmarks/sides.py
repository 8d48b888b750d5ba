"""A point measured on both sides, and whether both gave the same answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import Answer, GroupSpec, together
from evenkeel.engine.cli.assign_cases import answer, read_case
from evenkeel.engine.model.assignments import Assignment
from tests.benchmarks.measure import Measured, measure
from tests.benchmarks.points import Point, after, before, build
from tests.oracle.groups import Case
from tests.oracle.judge import difference
from tests.oracle.jvm import KAFKAS, Jvm

HEAP = "4g"
PATIENCE_SECONDS = 600
HEADINGS = (
    *("strategy", "members x partitions", "scene", "groups"),
    *("Kafka ms", "evenkeel ms", "ratio", "peak MiB"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    What came of one scene of a point.

    Attributes:
        point, scene: What was measured.
        kafka: Milliseconds of Kafka's class for a group, None where there is none or no JVM.
        ours: Time for a group and memory of ours.
        differs: What differs between the answers for the first group; empty when nothing does.
    """

    point: Point
    scene: str
    kafka: float | None
    ours: Measured
    differs: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as fast as Kafka's class ours is."""
        return None if self.kafka is None else self.kafka / self.ours.milliseconds

    def cells(self) -> list[str]:
        """The row as text, a cell per heading of `HEADINGS`."""
        ratio = self.ratio
        return [
            *(self.point.strategy, self.point.size, self.scene, f"{self.point.groups:,}"),
            *(_three_figures(self.kafka), _three_figures(self.ours.milliseconds)),
            "-" if ratio is None else f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}",
            f"{self.ours.peak_mib:,.0f}",
        ]


def rows(point: Point, *, java: bool = True) -> Iterator[Row]:
    """
    Each scene of a point, Kafka's side first; a JVM of its own, so that no point profits from another.

    Args:
        point: What to measure.
        java: Whether Kafka's classes are asked.
    """
    cases = [build(point, number) for number in range(point.groups)]
    with Jvm(heap=HEAP) if java and point.strategy in KAFKAS else nullcontext() as jvm:
        for scene in point.scenes:
            groups = [_in_scene(case, scene, jvm) for case in cases]
            theirs = _theirs(groups, point, jvm) if jvm is not None else None
            yield Row(
                point=point,
                scene=scene,
                kafka=theirs["milliseconds"] if theirs else None,
                ours=_ours(groups, point),
                differs=difference(groups[0], theirs, answer(groups[0])) if theirs else "",
            )


def _in_scene(case: Case, scene: str, jvm: Jvm | None) -> Case:
    past = before(case, scene)
    if past is None:
        return case
    return after(case, scene, answer(past) if jvm is None else jvm.ask(past, PATIENCE_SECONDS))


def _theirs(groups: Sequence[Case], point: Point, jvm: Jvm) -> dict[str, Any]:
    timed = {"repeat": point.repeat, "warm_up": point.warm_up, "others": groups[1:]}
    return jvm.ask({**groups[0], **timed}, PATIENCE_SECONDS)


def _ours(groups: Sequence[Case], point: Point) -> Measured:
    """Ours, on groups that have worked nothing out before; the time is for one of them."""
    read = [read_case(group)[0] for group in groups]
    measured = measure(
        lambda fresh: answers(ASSIGNORS[point.strategy], fresh),
        lambda: [replace(group) for group in read],
        point.repeat,
        min(point.warm_up, 3),
    )
    return replace(measured, milliseconds=measured.milliseconds / len(groups))


def answers(strategy: Any, groups: Sequence[GroupSpec]) -> Sequence[Answer | Assignment]:
    """
    What a strategy has for each group: all at once, putting them together and taking answers apart included.

    One group, and any by a strategy that does not take many, it gets as it is.
    """
    if len(groups) == 1 or not hasattr(strategy, "assign_many"):
        return [strategy.assign(group) for group in groups]
    many = together(groups)
    found: Sequence[Answer] = strategy.assign_many(many).apart(many)
    return found


def _three_figures(value: float | None) -> str:
    """Three figures that mean something, whole numbers from a hundred on."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
