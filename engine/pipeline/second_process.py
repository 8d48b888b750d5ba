"""A second Python process that makes a part of what this one needs, where another processor is free for it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Self, TypeVar

from ..model.logs import logger

T = TypeVar("T")

_log = logger(__name__)

_CODE = """
import importlib, os, pickle, sys
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what is printed is no answer
importlib.import_module(sys.argv[1])
function, arguments = pickle.load(sys.stdin.buffer)
pickle.dump(function(*arguments), answers)
answers.close()
"""


def processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class SecondProcess:
    """
    It starts, and imports, while this process is still at something else; then it is called once.

    It shares nothing with this one: what it is given, and what it answers, is pickled. Whatever happens to it, the
    caller can do its part.
    """

    def __init__(self, module: str) -> None:
        """
        Args:
            module: What it imports.

        Raises:
            OSError: No process can be started.
        """
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CODE, module], stdin=pipe, stdout=pipe
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="second-process")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._thread.shutdown()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]

    def call(self, function: Callable[..., T], *arguments: object) -> Callable[[float], T | None]:
        """
        Call a function there, and go on here.

        Returns:
            What waits for the answer, some seconds at most; None where there is none.
        """
        communicate = self._process.communicate
        told = self._thread.submit(lambda: communicate(pickle.dumps((function, arguments))))

        def answer(seconds: float) -> T | None:
            try:
                found: T = pickle.loads(told.result(seconds)[0])
            except Exception as problem:  # noqa: BLE001 whatever it is, the caller does the same here
                _log.warning("the second process failed: %s: %s", type(problem).__name__, problem)
                return None
            return found

        return answer


def start_if_free(module: str, stack: ExitStack) -> SecondProcess | None:
    """One that ends with the stack; None where no processor is free for it."""
    if processors() > 1:
        with suppress(OSError):
            return stack.enter_context(SecondProcess(module))
    return None
