"""A folder that files are written into and read from: on this machine, or in an object store."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from ...model.errors import LakeError
from ...model.files import FILE, make_folders, sync
from ...model.tables import KindError
from ...model.text import one_line

_OBJECT_STORES = frozenset({"s3", "gcs", "abfs"})
_DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Files:
    """
    The files below a folder, by absolute path.

    Attributes:
        path: The folder, as the user names it.
        root: The same, as its file system names it.
        is_store: Whether it is an object store: a file is put there whole, and nothing is renamed.
    """

    def __init__(self, path: str) -> None:
        """
        Raises:
            LakeError: It is a URI of an unknown kind.
        """
        self.path = path
        self._local = "://" not in path
        if self._local:
            self.system, self.root = fs.LocalFileSystem(), str(Path(path).absolute())
        else:
            _check_no_secret(path)
            try:
                # Hadoop's name of the same
                uri = f"s3://{path[6:]}" if path.startswith("s3a://") else path
                self.system, root = fs.FileSystem.from_uri(uri)
            except (ValueError, OSError, pa.ArrowException) as problem:
                fix = "Use a local path or a URI such as s3://bucket/folder."
                raise LakeError(f"lake {path} cannot be opened: {problem}.", fix=fix) from problem
            self.root = root.rstrip("/")
        self.is_store = self.system.type_name in _OBJECT_STORES

    def read(self, path: str) -> bytes:
        """
        The content of a small file.

        Raises:
            FileNotFoundError: There is none.
        """
        with self.system.open_input_stream(path) as stream:
            return bytes(stream.read())

    def put(self, path: str, content: bytes | pa.Buffer) -> None:
        """Write a file, or replace it in one step: nobody ever sees half of it."""
        if self.is_store:
            # handed over whole, so that nothing but the whole can be put
            with self.system.open_output_stream(path) as stream:
                stream.write(content)
            return
        with self.replacing(path) as temporary, self.system.open_output_stream(temporary) as stream:
            stream.write(content)

    @contextmanager
    def writing(self, path: str) -> Iterator[pa.NativeFile]:
        """A stream for a large file of a name that no other ever has: it is there when all went well."""
        if self.is_store:
            stream = self.system.open_output_stream(path)
            try:
                yield stream
                stream.close()
            except BaseException:
                # the half that a store may keep is never named by anybody
                with suppress(OSError):
                    stream.close()
                self.forget([path])
                raise
            return
        with self.replacing(path) as temporary, self.system.open_output_stream(temporary) as stream:
            yield stream

    def settle(self, paths: Collection[str]) -> None:
        """Return when these files survive a power cut; an object store keeps them anyway."""
        if self.system.type_name == "local":
            for path in (*paths, *sorted({path.rpartition("/")[0] for path in paths})):
                with suppress(FileNotFoundError):
                    sync(path)

    @contextmanager
    def replacing(self, path: str) -> Iterator[str]:
        """A name to write under that becomes *path* at the end, in one step; not for an object store."""
        folder, _, name = path.rpartition("/")
        # Spark and pyarrow pass over names that begin with an underscore or a dot
        temporary = f"{folder}/_{secrets.token_hex(4)}-{name}.tmp"
        try:
            if self._local:
                make_folders(folder)
                os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE))
            else:
                self.system.create_dir(folder, recursive=True)
            yield temporary
            self.system.move(temporary, path)
        except BaseException:
            self.forget([temporary])
            raise

    def forget(self, paths: Sequence[str]) -> None:
        """Remove files, as far as possible: what cannot be removed now is left for the maintenance."""
        for path in paths:
            with suppress(OSError):
                self.remove(path)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        with suppress(FileNotFoundError):
            self.system.delete_file(path)

    def remove_folder(self, path: str) -> None:
        """Remove a folder with all that is in it."""
        self.system.delete_dir(path)

    def missing(self, paths: Sequence[str]) -> list[str]:
        """Which of these files are not there."""
        found = self.system.get_file_info(list(paths))
        return [one.path for one in found if one.type != fs.FileType.File]

    def ages(self, folder: str) -> dict[str, datetime]:
        """When each file in a folder was written, by name."""
        found = (one for one in self._list(folder) if one.type == fs.FileType.File)
        return {one.base_name: one.mtime for one in found}

    def names(self, folder: str) -> list[str]:
        """The names of the files in a folder; none if there is no folder."""
        return [one.base_name for one in self._list(folder) if one.type == fs.FileType.File]

    def folders(self, folder: str, prefix: str) -> list[str]:
        """The values in the names of the folders `<prefix><value>`; none if there is no folder."""
        names = (o.base_name for o in self._list(folder) if o.type == fs.FileType.Directory)
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def _list(self, folder: str) -> list[fs.FileInfo]:
        return list(self.system.get_file_info(fs.FileSelector(folder, allow_not_found=True)))

    def check_parent(self) -> None:
        """
        Raises:
            LakeError: The folder would lie in one that is not there.
        """
        if self._local and Path(self.path).is_absolute() and not Path(self.root).parent.is_dir():
            raise LakeError(
                f"lake {self.path} cannot be used: the folder {Path(self.root).parent} "
                "does not exist.",
                fix="Create it, mount it, or correct `lake` (EVENKEEL_LAKE).",
            )

    @contextmanager
    def explained(self, what: str) -> Iterator[None]:
        """Turn what a file system or Arrow says into a LakeError with a fix."""
        try:
            yield
        except (OSError, pa.ArrowException, KindError) as problem:
            reason = one_line(getattr(problem, "strerror", None) or problem)
            raise LakeError(
                f"lake {self.path} cannot be {what}: {reason}.", fix=_fix(problem, what)
            ) from problem


def _check_no_secret(path: str) -> None:
    """
    Raises:
        LakeError: The URI holds credentials; it is told, logged and stored.
    """
    login = path.partition("://")[2].partition("/")[0].rpartition("@")[0]
    if login or re.search(r"[?&](access|secret)_key=", path):
        raise LakeError(
            "the lake's URI holds credentials.",
            fix="Take them out of it; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role give them.",
        )


def _fix(problem: BaseException, what: str) -> str:
    number = getattr(problem, "errno", None)
    if number in _FULL:
        return "Free space on that disk, or keep fewer days (keep_days, maintain_history)."
    if number in _DENIED:
        user = f" (user id {os.getuid()})" if hasattr(os, "getuid") else ""
        return f"Give this process{user} the right to it, or correct `lake` (EVENKEEL_LAKE)."
    if what == "read" and number is None:
        return "The file is damaged: expire that snapshot, or restore the file."
    return "Check that path, or correct `lake` (EVENKEEL_LAKE)."
