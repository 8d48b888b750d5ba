"""
Compiled forms on disk, so that one installation compiles a kernel once, and an archive can take it along.

Numba's own cache reads beside the source only where it may also write there, so it would not use what an image or an
archive brings to a user who may not; it does not see that a kernel or a constant of another module has changed; and
a disk that is full, or a file of an older version that cannot be read, would end the call. Here forms are read wherever
they lie, and what cannot be kept or read is compiled.

Imported by `Kernel.fast` alone: Numba takes a second to import.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import (  # noqa: TID253  see above
    CompileResultCacheImpl,
    FunctionCache,
    _CacheLocator,
)


class _Place(_CacheLocator):  # type: ignore[misc]
    """The first folder that has a kernel's form, else the first that can be written."""

    def __init__(self, kernel: Any, folder: Path) -> None:
        self._kernel, self._folder = kernel, folder
        self._py_file = str(kernel.source)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Place | None:
        """None where there is neither."""
        kernel = py_func.kernel
        if not kernel.source.is_file():
            return None
        for file in kernel.files():
            return cls(kernel, file.parent)
        for folder in kernel.folders():
            place = cls(kernel, folder)
            with suppress(OSError):
                place.ensure_cache_path()
                return place
        return None

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """A form is made again when this has changed."""
        return str(self._kernel.stamp)

    def get_disambiguator(self) -> str:
        """The kernel's name says all."""
        return ""

    def ensure_cache_path(self) -> None:
        """Make the folder, and try to write in it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=self._folder).close()


class _Files(CompileResultCacheImpl):  # type: ignore[misc]
    """A kernel's files, under its own name for them."""

    _locator_classes = (_Place,)

    def __init__(self, py_func: Any) -> None:
        self._form = py_func.kernel.form
        super().__init__(py_func)

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """With the version of Numba in it."""
        return str(self._form)


class KeptForms(FunctionCache):  # type: ignore[misc]
    """What Numba asks for a compiled form, and gives one to keep."""

    _impl_class = _Files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The form for such arguments; None where there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  of whatever an older version has left
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a form, where that can be."""
        with suppress(OSError):
            super().save_overload(sig, data)
