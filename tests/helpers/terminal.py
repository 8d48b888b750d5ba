"""A program on a pseudo-terminal of a given width, as a person would see it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


SECONDS = 60
"""For a text to be drawn, or a program to end, on a busy machine."""


def _begun(
    command: Sequence[str], columns: int, folder: Path, environment: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], int, int]:
    """A program on a new terminal, the terminal's side of it, and the program's."""
    screen, own = pty.openpty()
    fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    plain = {k: v for k, v in environment.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    program = subprocess.Popen(
        command,
        cwd=folder,
        env=plain | {"TERM": "xterm"},
        stdin=own,
        stdout=own,
        stderr=subprocess.PIPE,
    )
    return program, screen, own


def on_terminal(
    command: Sequence[str], columns: int, folder: Path, environment: Mapping[str, str]
) -> list[str]:
    """
    The lines that a program shows on a terminal, without colors and trailing spaces.

    Args:
        command: The program and its arguments.
        columns: Width of the terminal.
        folder: Where it is called.
        environment: Of the program; COLUMNS would beat the terminal and is left out.

    Raises:
        AssertionError: It did not end with exit code 0; the message is what it said on standard error.
    """
    program, screen, own = _begun(command, columns, folder, environment)
    with program:
        os.close(own)
        seen = b"".join(iter(lambda: _read(screen), b""))
        assert program.stderr is not None
        said = program.stderr.read().decode()
    os.close(screen)
    assert program.returncode == 0, said
    return [_STYLE.sub("", line).rstrip() for line in seen.decode().split("\r\n")]


class Keyed:
    """A program on a terminal that is looked at while keys are pressed; use it as a context."""

    def __init__(
        self, command: Sequence[str], columns: int, folder: Path, environment: Mapping[str, str]
    ) -> None:
        """As `on_terminal`."""
        self.program, self._screen, self._own = _begun(command, columns, folder, environment)
        self._seen = b""

    def __enter__(self) -> Keyed:
        return self

    def __exit__(self, *_: object) -> None:
        self.program.kill()
        self.program.communicate()
        os.close(self._own)
        os.close(self._screen)

    @property
    def settings(self) -> list[Any]:
        """How the terminal is set."""
        return termios.tcgetattr(self._own)

    def press(self, keys: str) -> None:
        """Type; what was drawn before does not count any more."""
        self._seen = b""
        os.write(self._screen, keys.encode())

    def drawn(self, text: str) -> str:
        """What was drawn since the last key, until a text is there; without colors."""
        end = time.monotonic() + SECONDS
        while text not in (shown := _STYLE.sub("", self._seen.decode(errors="replace"))):
            assert time.monotonic() < end, f"{text!r} is not drawn, but {shown!r}"
            self._draw(1)
        return shown

    def ended(self) -> tuple[int, str, str]:
        """Exit code, standard error, and what was sent to the terminal since the last key, with colors."""
        end = time.monotonic() + SECONDS
        while self.program.poll() is None:
            assert time.monotonic() < end, "it does not end"
            self._draw(0.02)
        while self._draw(0):
            pass
        assert self.program.stderr is not None
        return self.program.returncode, self.program.stderr.read().decode(), self._seen.decode()

    def _draw(self, seconds: float) -> bool:
        """Whether something was drawn by then."""
        if came := bool(select.select([self._screen], [], [], seconds)[0]):
            self._seen += _read(self._screen)
        return came


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 65536)
    except OSError:  # Linux's way of saying that the other end is closed
        return b""
