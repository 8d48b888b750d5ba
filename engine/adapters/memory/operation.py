"""Runs of steps, how the pipelines fare, and locks in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from ...model.errors import ClusterBusy
from ...model.groups import WatchOf
from ...model.states import IncidentKind
from ...ports import CLOCKS_APART, ClusterFacts, FailingStep, ToldOutage
from ...records import StepRun
from .alerts import MemoryIncidents
from .results import MemoryResults
from .tables import Memory


class MemoryStepRuns(Memory):
    """The port `StepRuns`."""

    def record_step(self, run: StepRun) -> None:
        self.tables.steps.append(run)


class MemoryPipelines(MemoryStepRuns, MemoryIncidents, MemoryResults):
    """The port `PipelineHistory`: read from what the other ports were given."""

    def note_missed(self, runs: Sequence[StepRun], outage: ToldOutage | None = None) -> bool:
        if outage is not None:
            if any(one.key == outage.incident.key for one in self.tables.incidents):
                return False
            number = len(self.tables.incidents) + 1
            self.tables.incidents.append(replace(outage.incident, incident_id=number))
            cluster = outage.incident.cluster
            self._enqueue([outage.opened], cluster)
            self.mark_alert_sent(self.tables.alerts[-1], outage.delivered)
            self._enqueue(outage.ends, cluster)
        self.tables.steps.extend(runs)
        return True

    def cluster_facts(
        self, clusters: Sequence[str], now: datetime | None = None
    ) -> list[ClusterFacts]:
        began = min((run.started_at for run in self.tables.steps), default=None)
        over = (i.closed_at for i in self.tables.incidents if i.cluster == "*" and i.closed_at)
        until = max(over, default=None)
        return [
            ClusterFacts(
                cluster=name,
                watched_since=began,
                outage_until=until,
                unwatched_since=self._unwatched_since(name),
                failing=self._failing(name, first=name == clusters[0]),
                **self._snapshots(name, now),
                **self._unsent(name),
            )
            for name in clusters
        ]

    def _unwatched_since(self, cluster: str) -> datetime | None:
        watch = self.tables.watches.get((cluster, WatchOf.GROUPS))
        since = watch and watch.at
        ended = (one.finished_at for one in self.tables.of_cluster(cluster))
        return min((at for at in ended if at > since), default=None) if since else None

    def _failing(self, cluster: str, *, first: bool) -> tuple[FailingStep, ...]:
        served = (cluster, None) if first else (cluster,)
        outages = [
            (outage.began_at or outage.opened_at, outage.closed_at)
            for outage in self.tables.incidents
            if outage.cluster == "*" and outage.closed_at
        ]
        own = [
            run
            for run in self.tables.steps
            if run.cluster in served
            and not any(run.finished_at >= a and run.started_at <= b for a, b in outages)
        ]
        found = []
        for of, step in {(run.cluster, run.step) for run in own}:
            runs = sorted(
                (run for run in own if (run.cluster, run.step) == (of, step)),
                key=lambda run: run.started_at,
            )
            good = [run.started_at for run in runs if run.outcome == "ok"]
            bad = [
                run
                for run in runs
                if run.outcome != "ok" and not (good and run.started_at <= good[-1])
            ]
            if bad:
                ends = [run.finished_at for run in bad]
                links = [run.link for run in bad if run.outcome == "failed"]
                found.append(
                    FailingStep(
                        step=step,
                        failures=len(bad),
                        failing_since=min(ends),
                        last_failed_at=max(ends),
                        error=bad[-1].error,
                        skipped=bad[-1].outcome == "skipped",
                        runs=len({*links} - {None}) + links.count(None),
                        link=bad[-1].link,
                    )
                )
        return tuple(sorted(found, key=lambda one: (one.failing_since, one.step)))

    def _snapshots(self, cluster: str, now: datetime | None) -> dict[str, Any]:
        own = [
            one
            for one in self.tables.of_cluster(cluster)
            if now is None or one.started_at <= now + CLOCKS_APART
        ]
        judged = [one for one in own if one.rejected is not None]
        rejected = judged[-1] if judged and judged[-1].rejected else None
        advised = [one.started_at for one in own if one.advised]
        waiting = [
            one
            for one in own
            if not one.advised
            and not one.rejected
            and not (advised and one.started_at <= advised[-1])
        ]
        problems = [one.manifest.facts["problems"] for one in own]
        since = max((number + 1 for number, each in enumerate(problems) if not each), default=0)
        late = [one.started_at for one in own[-10:]]
        gap = (late[-1] - late[0]).total_seconds() / (len(late) - 1) if len(late) > 1 else None
        return {
            "newest_snapshot_id": own[-1].snapshot_id if own else None,
            "newest_finished_at": own[-1].finished_at if own else None,
            "rejected_snapshot_id": rejected and rejected.snapshot_id,
            "rejected_at": rejected and rejected.finished_at,
            "rejection": rejected
            and "; ".join(
                f"{row.expectation}: {row.reason or 'failed'}"
                for row in self.rejections(rejected.snapshot_id)
            ),
            "partial_snapshots": len(own) - since,
            "partial_since": own[since].finished_at if since < len(own) else None,
            "partial_problems": tuple(problems[-1]) if problems else (),
            "whole_snapshots": sum(not each for each in problems[-2:]),
            "unadvised": len(waiting),
            "oldest_unadvised_id": waiting[0].snapshot_id if waiting else None,
            "oldest_unadvised_at": min((one.finished_at for one in waiting), default=None),
            "gap_seconds": gap,
        }

    def _unsent(self, cluster: str) -> dict[str, Any]:
        waiting = [
            alert
            for alert in self.tables.alerts
            if (alert.cluster, alert.state) == (cluster, "pending")
            and (alert.message.get("subject") or {}).get("cause") != IncidentKind.UNSENT
        ]
        return {
            "unsent": len(waiting),
            "oldest_unsent_at": min(
                (alert.created_at for alert in waiting if alert.created_at), default=None
            ),
            "unsent_channels": tuple(sorted({alert.channel for alert in waiting})),
            "unsent_error": next((a.last_error for a in waiting if a.last_error), None),
        }


class MemoryLocks(Memory):
    """The port `Locks`."""

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        if key in self.tables.locks:
            raise ClusterBusy(f"{key} is still running.", fix="Let it finish.")
        self._tables.locks.add(key)
        try:
            yield
        finally:
            self._tables.locks.discard(key)
