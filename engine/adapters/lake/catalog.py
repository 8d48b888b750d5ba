"""What a lake holds: where the files of datasets and steps lie, and the manifests that tell of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from ...model.errors import InputError, LakeError, SnapshotNotFound
from ...model.tables import Schema
from ...ports import LakeFile, Manifest
from ...snapshots import SCHEMA_VERSION, STEPS, split_snapshot_id
from .files import Files

MANIFESTS = "_manifests"
_STEP_OF = {dataset: step for step, datasets in STEPS.items() for dataset in datasets}


@dataclass(frozen=True)
class Catalog:
    """The places and manifests of a lake."""

    files: Files

    def folder(self, dataset: str, cluster: str, day: str) -> str:
        """Where the files of a dataset lie that were taken of a cluster on a day."""
        return f"{self.files.root}/{dataset}/cluster={cluster}/day={day}"

    def manifest_folder(self, step: str, cluster: str, day: str) -> str:
        """The same for the manifests of a step."""
        return self.folder(f"{MANIFESTS}/{step}", cluster, day)

    def place(self, dataset: str, snapshot_id: str, name: str) -> str:
        """The path of a file of a dataset."""
        return f"{self.folder(dataset, *cluster_and_day(snapshot_id))}/{name}"

    def manifest_path(self, step: str, snapshot_id: str) -> str:
        """The path of a manifest."""
        return f"{self.manifest_folder(step, *cluster_and_day(snapshot_id))}/{snapshot_id}.json"

    def clusters(self, what: str) -> list[str]:
        """The clusters of which there are files of a dataset, or manifests (`_manifests/<step>`)."""
        return sorted(self.files.folders(f"{self.files.root}/{what}", "cluster="))

    def days(self, what: str, cluster: str) -> list[str]:
        """The days of the same, the oldest first."""
        return sorted(self.files.folders(f"{self.files.root}/{what}/cluster={cluster}", "day="))

    def ids(self, step: str, cluster: str, day: str) -> list[str]:
        """The snapshots of a day that a step has finished, the oldest first."""
        names = self.files.names(self.manifest_folder(step, cluster, day))
        return sorted(i for i in map(id_in, names) if i)

    def manifest(self, step: str, snapshot_id: str) -> Manifest:
        """
        What a step left for a snapshot.

        Raises:
            SnapshotNotFound: The step has not finished for this snapshot.
            LakeError: The manifest is damaged or of a schema version this program does not know.
        """
        path = self.manifest_path(step, snapshot_id)
        with self.files.explained("read"):
            try:
                content = self.files.read(path)
            except FileNotFoundError as problem:
                raise SnapshotNotFound(
                    f"snapshot {snapshot_id} has no finished step {step!r} in lake {self.files.path}.",
                    fix="Run that step, or name another snapshot or lake. Days older than keep_whole_days"
                    " have one snapshot per hour.",
                ) from problem
        return _parse(content, path)

    def manifests(self, step: str, cluster: str, day: str) -> list[Manifest]:
        """Those of a day, the oldest snapshot first."""
        found = []
        for snapshot_id in self.ids(step, cluster, day):
            with suppress(SnapshotNotFound):  # it has gone meanwhile
                found.append(self.manifest(step, snapshot_id))
        return found

    def put(self, manifest: Manifest) -> None:
        """Let readers see what a manifest tells of."""
        text = json.dumps(manifest.to_json(), indent=1, ensure_ascii=False).encode()
        self.files.put(self.manifest_path(manifest.step, manifest.snapshot_id), text)

    def own_files(self, manifest: Manifest) -> set[str]:
        """The paths of the files that hold rows of this snapshot only."""
        return {
            self.place(dataset, manifest.snapshot_id, file.name)
            for dataset in datasets_of(manifest.step)
            for file in files_of(manifest, dataset)
            if file.row_groups is None
        }


def step_of(dataset: str) -> str:
    """
    The step that writes a dataset.

    Raises:
        LakeError: There is no such dataset.
    """
    if dataset not in _STEP_OF:
        known = ", ".join(_STEP_OF)
        raise LakeError(f"there is no dataset {dataset!r}.", fix=f"Use one of {known}.")
    return _STEP_OF[dataset]


def datasets_of(step: str) -> Mapping[str, Schema]:
    """
    What a step writes.

    Raises:
        LakeError: There is no such step.
    """
    if step not in STEPS:
        raise LakeError(f"there is no step {step!r}.", fix=f"Use one of {', '.join(STEPS)}.")
    return STEPS[step]


def files_of(manifest: Manifest, dataset: str) -> Sequence[LakeFile]:
    """Where the rows of a dataset lie."""
    return (manifest.files or {}).get(dataset, ())


@lru_cache(maxsize=500)
def _parse(content: bytes, path: str) -> Manifest:
    try:
        found = json.loads(content)
        # another version may have other keys
        if (version := found["schema_version"]) == SCHEMA_VERSION:
            return Manifest.from_json(found)
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        fix = "Expire that snapshot, or restore the file."
        raise LakeError(f"manifest {path} is damaged: {problem!r}.", fix=fix) from problem
    raise LakeError(
        f"manifest {path} has schema version {version}; this evenkeel reads version {SCHEMA_VERSION}.",
        fix="Use the evenkeel version that wrote it, or another lake folder.",
    )


def id_in(name: str) -> str | None:
    """The snapshot id that a file is named by; None for temporary and foreign files, and those of a day."""
    snapshot_id = name.partition(".")[0]
    with suppress(InputError):
        split_snapshot_id(snapshot_id)
        return snapshot_id
    return None


def cluster_and_day(snapshot_id: str) -> tuple[str, str]:
    """Which cluster a snapshot was taken of, and on which day (UTC)."""
    cluster, moment = split_snapshot_id(snapshot_id)
    return cluster, f"{moment:%Y-%m-%d}"


def age_key(snapshot_id: str) -> str:
    """The second and the random part: ids of one cluster sort by it."""
    return snapshot_id[-23:]
