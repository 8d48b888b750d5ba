"""A real Airflow on this machine: scheduler, DAG processor and API server.

LocalExecutor, a Postgres database of its own, free loopback ports. The three parts are started side
by side; ``airflow standalone`` would start the same after some ten seconds of its own, and a
triggerer, for which these DAGs have no use. Stopping means ending each part's whole session: tasks
have process groups of their own.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import urllib.request
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil

from tests.helpers.dagbag import show_dags
from tests.stage.process import (
    LocalClusterError,
    Process,
    kept_ports,
    spawn,
    stop,
    wait_until,
)

# ten seconds on an idle machine
START_TIMEOUT_SECONDS = 240
MIGRATE_TIMEOUT_SECONDS = 240
STOP_GRACE_SECONDS = 10
# On a machine that is busy with more than this Airflow, its own limits are soon missed: a DAG file that takes too long
# is taken for gone, a task that heard no answer for lost. The API server may be up long after the scheduler.
_PATIENT = {
    "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "240",
    "AIRFLOW__CORE__TASK_SUCCESS_OVERTIME": "120",
    "AIRFLOW__DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT": "300",
    "AIRFLOW__DAG_PROCESSOR__STALE_DAG_THRESHOLD": "300",
    "AIRFLOW__WORKERS__EXECUTION_API_RETRIES": "10",
    "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "30",
}
PARTS = ("scheduler", "dag-processor", "api-server")
PASSWORDS = "simple_auth_manager_passwords.json.generated"


class AirflowApi:
    """The public API of an Airflow with the simple auth manager."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self._url = url
        self._login = {"username": user, "password": password}
        self._token = ""

    @property
    def token(self) -> str:
        """What says who asks; a browser keeps it as the cookie `_token`."""
        if not self._token:
            answer = _request("POST", f"{self._url}/auth/token", self._login)
            self._token = answer["access_token"]
        return self._token

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Ask it, e.g. ``call("GET", "dags")``; raises HTTPError as it answers."""
        return _request(method, f"{self._url}/api/v2/{path}", body, self.token)

    def pause(self, dag_ids: Iterable[str], *, paused: bool) -> None:
        """Let DAGs run by their schedules, or not."""
        for dag_id in dag_ids:
            self.call("PATCH", f"dags/{dag_id}", {"is_paused": paused})

    def runs(self, dag_id: str = "~", *states: str) -> list[dict[str, Any]]:
        """The newest hundred runs of a DAG (of all), of these states if any are given."""
        query = "&".join(["order_by=-run_after", "limit=100", *(f"state={s}" for s in states)])
        return list(self.call("GET", f"dags/{dag_id}/dagRuns?{query}")["dag_runs"])

    def trigger(self, dag_id: str, **conf: Any) -> str:
        """Run a DAG now, with these params; the id of the run."""
        body = {"logical_date": None, "conf": conf}
        return str(self.call("POST", f"dags/{dag_id}/dagRuns", body)["dag_run_id"])

    def give_up(self, run: Mapping[str, Any]) -> None:
        """Mark a run as failed."""
        path = f"dags/{run['dag_id']}/dagRuns/{quote(run['dag_run_id'], safe='')}"
        self.call("PATCH", path, {"state": "failed"})


def _request(method: str, url: str, body: Mapping[str, Any] | None = None, token: str = "") -> Any:
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text else None


class LocalAirflow:
    """One Airflow in ``directory``. The thread that starts it must live as long as it, see ``spawn``.

    ``database`` is an SQLAlchemy URL for psycopg2; ``environment`` reaches every task; ``home``
    marks the processes for ``sweep``. Started again on the same folder it keeps its runs and, where
    still free, its ports. ``programs`` is the folder with the command ``airflow`` of another version.
    """

    def __init__(
        self,
        directory: Path,
        database: str,
        *,
        environment: Mapping[str, str] | None = None,
        home: Path | None = None,
        dags: Path | None = None,
        programs: Path | None = None,
    ) -> None:
        self.directory = directory.resolve()
        self.directory.mkdir(parents=True, exist_ok=True)
        self._home, self._programs = home, programs or Path(sys.executable).parent
        self._parts: dict[str, Process] = {}
        self.port, *log_ports = kept_ports(self.directory / "ports.json", 3)
        dags = dags or show_dags(self.directory / "dags")
        self._environment = {
            **_settings(self.directory, database, self.port, log_ports, dags),
            # it starts its parts by the name `airflow`
            "PATH": f"{self._programs}{os.pathsep}{os.environ.get('PATH', '')}",
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
    def running(self) -> bool:
        """Whether it was started, and none of its parts has ended."""
        return bool(self._parts) and all(part.running for part in self._parts.values())

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
        for name in PARTS:
            self._launch(name)
        api_server = self._parts["api-server"]
        wait_until(self.well, timeout, "Airflow", process=api_server, interval=0.5)

    def revive(self, but: Collection[str] = ()) -> list[str]:
        """Start the parts anew that have ended, as the machine's own service manager would; their names."""
        ended = [name for name, part in self._parts.items() if not part.running and name not in but]
        for name in ended:
            _signal_all(_members({self._parts[name].pid}), signal.SIGKILL)
            self._launch(name)
        return ended

    def processes(self, name: str) -> list[psutil.Process]:
        """Of one of `PARTS`, with all that it has started, tasks included."""
        return _members({self._parts[name].pid})

    def _launch(self, name: str) -> None:
        argv, log = [str(self._programs / "airflow"), name], self.directory / f"{name}.log"
        title = f"Airflow's {name}"
        self._parts[name] = spawn(argv, self._environment, log, title, home=self._home)

    def stop(self, grace: float = STOP_GRACE_SECONDS) -> None:
        """End everything in its sessions: SIGTERM, wait up to ``grace`` seconds, SIGKILL.

        Tasks are told as well, so that they end what they started elsewhere (Spark).
        """
        sessions = {part.pid for part in self._parts.values()}
        _signal_all(_members(sessions), signal.SIGTERM)
        psutil.wait_procs(_members(sessions), timeout=grace)
        while left := _members(sessions):
            _signal_all(left, signal.SIGKILL)
            psutil.wait_procs(left, timeout=1)
        while self._parts:
            self._parts.popitem()[1].popen.wait()

    @property
    def api(self) -> AirflowApi:
        """Its public API, as its administrator."""
        return AirflowApi(self.url, *self.login)

    def well(self) -> bool:
        """
        Whether the API answers and says that scheduler and DAG processor are well.

        Raises:
            LocalClusterError: A part has ended.
        """
        if not self.running:
            gone = ", ".join(part.name for part in self._parts.values() if not part.running)
            raise LocalClusterError(f"{gone} ended, see the logs in {self.directory}")
        try:
            health = _request("GET", f"{self.url}/api/v2/monitor/health")
        except (OSError, ValueError):
            return False
        parts = ("scheduler", "dag_processor")
        return all((health.get(part) or {}).get("status") == "healthy" for part in parts)

    def _command(self, *arguments: str) -> None:
        log = self.directory / "commands.log"
        argv = [str(self._programs / "airflow"), *arguments]
        process = spawn(argv, self._environment, log, f"airflow {arguments[0]}", home=self._home)
        try:
            process.popen.wait(MIGRATE_TIMEOUT_SECONDS)
        except BaseException:
            stop(process)
            raise
        if process.popen.returncode:
            raise LocalClusterError(f"airflow {' '.join(arguments)} failed, see {log}")


def _members(sessions: set[int]) -> list[psutil.Process]:
    """The processes of these sessions."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) in sessions and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, ProcessLookupError):
            continue
    return found


def _signal_all(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def _settings(
    home: Path, database: str, port: int, log_ports: list[int], dags: Path
) -> dict[str, str]:
    """Airflow's settings; the API's address and the one tasks use must agree."""
    return {
        "AIRFLOW_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database,
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        **_PATIENT,
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
