"""A whole Airflow on this machine: scheduler, DAG processor, triggerer and API server.

``airflow standalone`` with the LocalExecutor on a Postgres database of its own, on free loopback
ports. It runs in one session; stopping it means ending that whole session, because the standalone
command leaves its children behind.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from tests.helpers.local.process import (
    LocalClusterError,
    Process,
    free_ports,
    port_is_free,
    spawn,
    stop,
    wait_until,
)

DAGS = Path(__file__).resolve().parents[3] / "dags"
START_TIMEOUT_SECONDS = 120
MIGRATE_TIMEOUT_SECONDS = 120
STOP_GRACE_SECONDS = 10
PASSWORDS = "simple_auth_manager_passwords.json.generated"


class LocalAirflow:
    """One Airflow in ``directory``. The thread that starts it must live as long as it, see ``spawn``.

    ``database`` is an SQLAlchemy URL for psycopg2; ``environment`` reaches every task; ``home``
    marks the processes for ``sweep``. Started again on the same folder it keeps its runs and, where
    still free, its ports.
    """

    def __init__(
        self,
        directory: Path,
        database: str,
        *,
        environment: Mapping[str, str] | None = None,
        home: Path | None = None,
        dags: Path = DAGS,
    ) -> None:
        self.directory = directory.resolve()
        self.directory.mkdir(parents=True, exist_ok=True)
        self._home = home
        self._process: Process | None = None
        self._token: str | None = None
        self.port, *log_ports = self._ports()
        self._environment = {
            **_settings(self.directory, database, self.port, log_ports, dags),
            **(environment or {}),
        }

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def login(self) -> tuple[str, str]:
        """User and password of the administrator; it exists once Airflow has started."""
        users = json.loads((self.directory / PASSWORDS).read_text())
        user, password = next(iter(users.items()))
        return user, password

    @property
    def pid(self) -> int | None:
        """Process id of the standalone command, which is also that of its process group."""
        return self._process.pid if self._process else None

    @property
    def running(self) -> bool:
        """Whether the standalone command has not ended."""
        return self._process is not None and self._process.running

    def migrate(self, pools: Mapping[str, int] | None = None) -> None:
        """Bring the metadata database up to date and make pools; once per folder and version."""
        from importlib.metadata import version

        done = self.directory / f"migrated-{version('apache-airflow-core')}.json"
        wanted = json.dumps(dict(pools or {}))
        if done.exists() and done.read_text() == wanted:
            return
        self._command("db", "migrate")
        for name, slots in (pools or {}).items():
            self._command("pools", "set", name, str(slots), "made by the local Airflow")
        done.write_text(wanted)

    def start(self, timeout: float = START_TIMEOUT_SECONDS) -> None:
        """Start it and return when the API answers and the scheduler and DAG processor are well."""
        self._process = spawn(
            [str(_bin() / "airflow"), "standalone"],
            self._environment,
            self.directory / "standalone.log",
            "Airflow",
            home=self._home,
        )
        wait_until(self._well, timeout, "Airflow", process=self._process, interval=0.5)

    def stop(self, grace: float = STOP_GRACE_SECONDS) -> None:
        """End everything in its session: SIGTERM, wait up to ``grace`` seconds, SIGKILL.

        Tasks are told as well, so that they end what they started elsewhere (Spark).
        """
        if self._process is None:
            return
        session = self._process.pid
        _signal_all(_members(session), signal.SIGTERM)
        psutil.wait_procs(_members(session), timeout=grace)
        while left := _members(session):
            _signal_all(left, signal.SIGKILL)
            psutil.wait_procs(left, timeout=1)
        self._process.popen.wait()
        self._process = None

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Ask the public API, e.g. ``call("GET", "dags")``; raises HTTPError as it answers."""
        if self._token is None:
            user, password = self.login
            answer = self._request("POST", "/auth/token", {"username": user, "password": password})
            self._token = answer["access_token"]
        return self._request(method, f"/api/v2/{path}", body, self._token)

    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, token: str = ""
    ) -> Any:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def _well(self) -> bool:
        try:
            health = self._request("GET", "/api/v2/monitor/health")
        except (OSError, urllib.error.URLError, ValueError):
            return False
        parts = ("scheduler", "dag_processor")
        return all((health.get(part) or {}).get("status") == "healthy" for part in parts)

    def _command(self, *arguments: str) -> None:
        log = self.directory / "commands.log"
        argv = [str(_bin() / "airflow"), *arguments]
        process = spawn(argv, self._environment, log, f"airflow {arguments[0]}", home=self._home)
        try:
            process.popen.wait(MIGRATE_TIMEOUT_SECONDS)
        except BaseException:
            stop(process)
            raise
        if process.popen.returncode:
            raise LocalClusterError(f"airflow {' '.join(arguments)} failed, see {log}")

    def _ports(self) -> list[int]:
        kept = self.directory / "ports.json"
        ports: list[int] = json.loads(kept.read_text()) if kept.exists() else []
        if not ports or not all(map(port_is_free, ports)):
            ports = free_ports(3)
            kept.write_text(json.dumps(ports))
        return ports


def _members(session: int) -> list[psutil.Process]:
    """The processes of a session; tasks have process groups of their own, but stay in it."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, ProcessLookupError):
            continue
    return found


def _signal_all(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def _bin() -> Path:
    return Path(sys.executable).parent


def _settings(
    home: Path, database: str, port: int, log_ports: list[int], dags: Path
) -> dict[str, str]:
    """Airflow's settings; the API's address and the one tasks use must agree."""
    return {
        "AIRFLOW_HOME": str(home),
        # it starts its parts by the name `airflow`
        "PATH": f"{_bin()}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYSPARK_PYTHON": sys.executable,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database,
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "20",
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "120",
        "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(log_ports[0]),
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(log_ports[1]),
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }
