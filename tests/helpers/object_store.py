"""A lake on something like S3: no folders, nothing is renamed, and a file is there when it is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyarrow import fs

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.lake.tables import FileReader


class Store(fs.FileSystemHandler):  # type: ignore[misc]
    """Files below a local folder, as an object store shows them; *calls* are what it was asked."""

    def __init__(self) -> None:
        self.local = fs.LocalFileSystem()
        self.calls: list[tuple[str, str]] = []

    def get_type_name(self) -> str:
        """As S3 calls itself."""
        return "s3"

    def normalize_path(self, path: str) -> str:
        """As it is."""
        return path

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        """Of these."""
        return list(self.local.get_file_info(paths))

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        """Of what is in a folder."""
        return list(self.local.get_file_info(selector))

    def open_input_stream(self, path: str) -> Any:
        """To read."""
        self.calls.append(("get", path))
        return self.local.open_input_stream(path)

    def open_input_file(self, path: str) -> Any:
        """To read here and there."""
        self.calls.append(("open", path))
        return self.local.open_input_file(path)

    def open_output_stream(self, path: str, metadata: Any) -> Any:
        """To write; the folders come by themselves."""
        self.calls.append(("put", path))
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return self.local.open_output_stream(path)

    def delete_file(self, path: str) -> None:
        """One."""
        self.calls.append(("delete", path))
        self.local.delete_file(path)

    def delete_dir(self, path: str) -> None:
        """All below."""
        self.local.delete_dir(path)

    def _refuse(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("an object store does not do that")

    create_dir = move = copy_file = open_append_stream = _refuse
    delete_dir_contents = delete_root_dir_contents = _refuse


def lake_in_store(path: str | Path) -> tuple[FileLake, Store]:
    """A lake whose files lie in such a store, and the store."""
    lake, store = FileLake(path), Store()
    lake._files.system, lake._files.is_store = fs.PyFileSystem(store), True
    lake._reader = FileReader(lake._files.system, remote=True)
    return lake, store
