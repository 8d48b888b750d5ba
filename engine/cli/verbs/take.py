"""`evenkeel snapshot take`: read a cluster once and keep it in a lake folder."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from ..command_end import complain
from ..options import AsJson, Bootstrap, ClusterName, epilog, option

if TYPE_CHECKING:
    from ...ports import Manifest

EPILOG = epilog(
    [
        "evenkeel snapshot take --bootstrap broker1:9092 --out snapshots",
        "evenkeel snapshot take --cluster prod          # a cluster of evenkeel.toml",
        "evenkeel snapshot take --cluster prod --json | jq .snapshot_id",
    ],
    [0, 2, 3, 4],
    "What evenkeel cannot read is printed on standard error and makes the snapshot partial. The rest is stored.",
)


def take(
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    out: Annotated[
        str | None, option("--out DIR", "The lake folder. Default: the configured one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Store one snapshot of a cluster in a lake folder."""
    from ... import wiring
    from .. import sources
    from ..views.tables import emit

    settings, name = sources.live(wiring.settings(), bootstrap, cluster)
    if out is not None:
        settings = settings.model_copy(update={"lake": out})
    lake = wiring.lake(settings)
    [taken] = sources.take(settings, name, lake, samples=1, every=0)
    manifest = lake.manifest("snapshot", taken)
    for problem in manifest.facts.get("problems", ()):
        complain(f"not read: {problem}")
    for note in manifest.facts.get("notes", ()):
        complain(f"not known: {note}")
    if as_json:
        emit([summary(manifest)])
        return
    print(taken)
    print(sentence(manifest))


def summary(manifest: Manifest) -> dict[str, Any]:
    """What a snapshot holds, and how it was taken, for machines."""
    facts = manifest.facts
    return {
        "snapshot_id": manifest.snapshot_id,
        "cluster": manifest.cluster,
        "kafka_cluster_id": facts.get("kafka_cluster_id"),
        "started_at": facts["started_at"],
        "finished_at": facts["finished_at"],
        "seconds": seconds(manifest),
        "partial": bool(facts.get("problems")),
        "problems": list(facts.get("problems", ())),
        "notes": list(facts.get("notes", ())),
        "requests": dict(facts.get("requests", {})),
        **manifest.rows,
    }


def sentence(manifest: Manifest) -> str:
    """The same in one line for people."""
    rows, found = manifest.rows, len(manifest.facts.get("problems", ()))
    parts = [
        f"{rows.get(name, 0):,} {name}" for name in ("groups", "members", "partitions", "brokers")
    ]
    ends = f"partial: {found:,} not read" if found else "complete"
    return f"{', '.join(parts)} in {seconds(manifest):.1f} s, {ends}"


def seconds(manifest: Manifest) -> float:
    """How long the reading took."""
    begun, ended = (
        datetime.fromisoformat(manifest.facts[k]) for k in ("started_at", "finished_at")
    )
    return (ended - begun).total_seconds()
