"""A program on a pseudo-terminal of a given width, as a person would see it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


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
    screen, own = pty.openpty()
    fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    plain = {k: v for k, v in environment.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=plain | {"TERM": "xterm"},
        stdin=own,
        stdout=own,
        stderr=subprocess.PIPE,
    ) as program:
        os.close(own)
        seen = b"".join(iter(lambda: _read(screen), b""))
        assert program.stderr is not None
        said = program.stderr.read().decode()
    os.close(screen)
    assert program.returncode == 0, said
    return [_STYLE.sub("", line).rstrip() for line in seen.decode().split("\r\n")]


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 65536)
    except OSError:  # Linux's way of saying that the other end is closed
        return b""
