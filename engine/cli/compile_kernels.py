"""
All kernels compiled before a run needs them.

A kernel is compiled for the arguments that it gets, so strategies are asked about small groups, and about an
application that has to warm up, with the compiled forms only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from ..assignors import ASSIGNORS
from ..assignors.balanced import Balanced
from ..assignors.interface import GroupSpec, build_spec
from ..assignors.kit.kernels import KERNELS, Kernel, held_to
from ..assignors.promises import sketches
from ..model.environment import source_folder
from ..model.errors import Infeasible, InputError
from ..streams.model import Application, ClientLine, TaskLine, application
from ..streams.place import place
from ..streams.settings import TaskConfig

_GROUPS = 500
"""So many reach every kernel; a test holds it."""


def kernels() -> Sequence[Kernel[..., object]]:
    """Those in files of ours, whether compiled or not."""
    return [each for each in KERNELS if source_folder() in each.source.parents]


def compile_all() -> None:
    """Compile every kernel and keep its form where it can be; what is kept already is loaded and left as it is."""
    with held_to(compiled=True):
        place(_application(), TaskConfig(num_standby_replicas=1))
        for group in sketches(_GROUPS):
            for name in ("balanced", "drain", "range", "sticky", "uniform", "racks-server"):
                try:
                    ASSIGNORS[name].assign(group.spec())
                except Infeasible:
                    continue
        Balanced(enough=1.0).assign(_overloaded())


def compile_and_keep() -> Path:
    """
    The same, and where the forms are kept: a folder above all of them.

    Raises:
        InputError: They cannot be kept.
    """
    compile_all()
    kept = [each.files()[:1] for each in kernels()]
    if not all(kept):
        raise InputError(
            f"what was compiled cannot be kept: neither {source_folder()} nor your cache folder can be written.",
            fix="Run it as a user who may write there, or let NUMBA_CACHE_DIR name a folder.",
        )
    return Path(os.path.commonpath([file.parent for files in kept for file in files]))


def kept_files() -> Iterator[tuple[PurePosixPath, Path]]:
    """The forms that are kept: their names beside the source, and where they are."""
    root = source_folder()
    for each in kernels():
        folder = PurePosixPath(each.source.parent.relative_to(root).as_posix(), "__pycache__")
        yield from ((folder / file.name, file) for file in each.files())


def _overloaded() -> GroupSpec:
    """Members that nobody can keep below what they can do, so that partitions are packed."""
    members = 2
    return build_spec(
        members=["a", "b"],
        instance_ids=[None] * members,
        member_racks=[None] * members,
        subscriptions=[["t"]] * members,
        topics=["t"],
        partition_counts=[4],
        replica_racks=[[]] * 4,
        owner=[0] * 4,
        rate=[3, 9, 6, 5],
        capacity=[10] * members,
    )


def _application() -> Application:
    """Tasks that run where they are not to be, with standbys behind."""
    tasks = [
        TaskLine(
            id=f"0_{number}",
            sources=[("source", number)],
            changelogs=[("changelog", number)],
            stateful=True,
            log_size=1_000_000,
        )
        for number in range(12)
    ]
    ahead = {task.id: 0 for task in tasks}
    processes = [f"00000000-0000-0000-0000-00000000000{number}" for number in range(4)]
    return application(
        tasks,
        [
            ClientLine(process_id=name, lags=ahead if name == processes[0] else {})
            for name in processes
        ],
    )
