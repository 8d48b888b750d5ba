"""What the demo runs: Postgres, Slack's stand-in, brokers, workload and Airflow, as services.

``python -m tests.stage.services HOME [--cluster HOST:PORT]`` is the daemon that owns
them: it ends at SIGTERM, all of them with it. ``demo.start`` starts it and reads its state file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenkeel.engine.adapters.postgres import migrate
from evenkeel.engine.adapters.postgres.reader import READER
from tests.stage import slack
from tests.stage.airflow import AirflowApi, LocalAirflow
from tests.stage.clean_start import forget_history, forget_snapshots
from tests.stage.kafka.brokers import KafkaCluster
from tests.stage.kafka.jars import resolve_jars
from tests.stage.postgres import EmbeddedPostgres
from tests.stage.process import (
    LocalClusterError,
    asked_to_end,
    kept_ports,
    spawn,
    stop,
    sweep,
    wait_until,
)
from tests.stage.slack_workspace import Workspace
from tests.stage.supervisor import Facts, Service, StateFile, Supervisor

# Longer than the steps take: only the newest snapshot of a cluster is spoken of in Slack.
SCHEDULE = "90s"
WATCH_SCHEDULE = "3m"
OWN_CLUSTER = "demo"
HISTORY = "evenkeel"
"""Its database, and the role that owns it."""
EXAMPLE = "example"
"""The database of the cookbook's history, made by `example`."""
SETTLE_SECONDS = 150
FIRST = ("snapshot_offsets", "advise_assignments")
LATER = ("watch_pipeline", "maintain_history")
"""They look back; the first thing the watch would notice is that the last demo was stopped."""

# A token the stand-in accepts; nothing is secret about it.
LOCAL_TOKEN = "xoxb-local"

CONFIG = """\
# The configuration of the demo, written by it. Yours can look like this one.
lake = "{lake}"
stale_after_seconds = 600
# So few groups need no Spark; the demo shows it nevertheless: leave this out of yours.
spark_above = 0

[clusters.{name}]
bootstrap = "{bootstrap}"

# Who watches a demo does not wait the usual 25 minutes until advice is sure enough, nor a quarter of an hour until a
# slow member is worth a message: leave this out of yours.
[[rules]]
[rules.policy]
confirm_evidence = 1.02
[rules.incidents]
capacity_seconds = 60
not_committing_seconds = 60
resolve_after_seconds = 60
"""

# What the wire does not tell of the demo's own groups; a cluster of yours has its own.
RULES = """
[[rules]]
groups = "*"
auto_offset_reset = "earliest"
price_per_gb = 0.02

[[rules]]
groups = "never-committed"
auto_offset_reset = "latest"

[[rules]]
groups = "slow-member"
assignors = ["range", "roundrobin"]

[[rules]]
groups = "skewed-load"
assignors = ["range", "roundrobin"]
# it is learned, too, but not within minutes
commit_interval_seconds = 5

[[rules]]
groups = "racks-avoidable"
assignors = ["evenkeel-plan"]
"""


@dataclass(frozen=True)
class Demo:
    """Where everything lies, and whether a cluster of the user's own is looked at."""

    home: Path
    cluster: str | None = None

    @property
    def state(self) -> Path:
        """The file in which the daemon says how far it is; the command line reads it, too."""
        return self.home / "state.json"

    @property
    def log(self) -> Path:
        """What the daemon itself has to say."""
        return self.home / "daemon.log"

    @property
    def messages(self) -> Path:
        """What Slack's stand-in was sent."""
        return self.home / "slack.jsonl"

    @property
    def workload(self) -> Path:
        """Logs of the workload, plans for those of its members that follow one."""
        return self.home / "workload"

    @property
    def config(self) -> Path:
        """The configuration that the DAGs use."""
        return self.home / "evenkeel.toml"

    @property
    def name(self) -> str:
        """The configured name of the cluster; another address must not get another's history."""
        if self.cluster is None:
            return OWN_CLUSTER
        address = self.cluster.split(",")[0].lower()
        return re.sub(r"[^a-z0-9]+", "-", address).strip("-")[:40].strip("-")

    def services(self) -> list[Service]:
        """Everything to run; each waits only for what it needs."""
        own = [] if self.cluster else [Service("workload", self._workload, ("brokers",))]
        settled = ("workload",) if own else ()
        return [
            Service("postgres", self._postgres),
            Service("example", self._example, ("postgres",)),
            Service("slack", self._slack),
            Service("brokers", self._own_cluster if own else self._your_cluster),
            *own,
            Service("metadata", self._metadata, ("postgres",)),
            Service("airflow", self._airflow, ("metadata", "slack", "brokers")),
            Service("schedule", self._schedule, ("airflow", *settled)),
        ]

    @contextmanager
    def _postgres(self, facts: Mapping[str, Any]) -> Iterator[Facts]:
        with EmbeddedPostgres(self.home / "postgres") as server:
            # the history's own role may not create it; what it may read is granted by `migrate`
            server.create_reader()
            database_url = server.database(HISTORY)
            migrate(database_url)
            if self.cluster is None:
                forget_history(database_url, self.name)
            airflow = server.database("airflow")
            found = {"database_url": database_url, "reader_url": server.url(HISTORY, READER)}
            yield found | {"airflow_database": _psycopg2(airflow), "_postgres": server}

    @contextmanager
    def _example(self, facts: Mapping[str, Any]) -> Iterator[Facts]:
        """Nothing waits until it is made."""
        argv = [sys.executable, "-m", "tests.stage.example", str(self.home / "postgres"), EXAMPLE]
        process = spawn(argv, None, self.home / "example.log", "the example", home=self.home)
        try:
            yield {"example_url": facts["_postgres"].url(EXAMPLE, READER)}
        finally:
            stop(process)

    @contextmanager
    def _slack(self, facts: Mapping[str, Any]) -> Iterator[Facts]:
        if os.environ.get("EVENKEEL_SLACK_TOKEN"):
            yield {"slack": "Slack itself"}
            return
        workspace = Workspace(store=self.messages)
        with slack.running(workspace, *kept_ports(self.home / "slack.ports", 1)) as server:
            found = {"slack": str(self.messages), "slack_base_url": server.base_url}
            yield found | {"_workspace": workspace}

    @contextmanager
    def _own_cluster(self, facts: Mapping[str, Any]) -> Iterator[Facts]:
        cluster = KafkaCluster(
            self.home / "kafka", home=self.home, jars=resolve_jars(self.home.parent)
        )
        with cluster:
            yield {"bootstrap": cluster.bootstrap, "_brokers": cluster}

    @contextmanager
    def _your_cluster(self, facts: Mapping[str, Any]) -> Iterator[Facts]:
        yield {"bootstrap": self.cluster}

    @contextmanager
    def _workload(self, facts: Mapping[str, Any]) -> Iterator[Facts]:
        folder = self.workload
        settled = folder / "settled.json"
        settled.unlink(missing_ok=True)
        argv = [sys.executable, "-m", "tests.stage", "workload"]
        argv += ["--bootstrap", facts["bootstrap"], "--directory", str(folder)]
        argv += ["--once-settled", str(settled)]
        log = folder / "workload.log"
        process = spawn(argv, None, log, "the workload", home=self.home)
        try:
            wait_until(settled.exists, SETTLE_SECONDS, "the groups to settle", process=process)
            groups = json.loads(settled.read_text())["groups"]
            yield {"groups": len(groups), "_alive": lambda: process.running}
        finally:
            stop(process, grace=10)

    @contextmanager
    def _metadata(self, facts: Mapping[str, Any]) -> Iterator[Facts]:
        airflow = LocalAirflow(self._airflow_home, facts["airflow_database"], home=self.home)
        airflow.migrate({"spark": 1})
        yield {}

    @contextmanager
    def _airflow(self, facts: Mapping[str, Any]) -> Iterator[Facts]:
        self.write_config(facts["bootstrap"])
        airflow = LocalAirflow(
            self._airflow_home,
            facts["airflow_database"],
            environment=self.environment(facts),
            home=self.home,
        )
        try:
            airflow.start()
            user, password = airflow.login
            found = {"airflow_url": airflow.url, "airflow_user": user}
            secret = {"airflow_password": password, "_alive": lambda: airflow.running}
            yield found | secret | {"_airflow": airflow}
        finally:
            airflow.stop()

    @contextmanager
    def _schedule(self, facts: Mapping[str, Any]) -> Iterator[Facts]:
        """The DAGs run by their schedules as long as this; what an earlier demo left is given up."""
        api: AirflowApi = facts["_airflow"].api
        for run in api.runs("~", "running", "queued"):
            api.give_up(run)
        wait_until(lambda: _all_known(api), 300, "Airflow to read the DAGs", interval=0.5)
        settled_at = time.time()
        api.pause(FIRST, paused=False)
        # a schedule that was stopped a moment ago has its next turn later than one would wait for
        if not _soon(lambda: api.runs(FIRST[0], "queued", "running")):
            api.trigger(FIRST[0])
        try:
            yield {"settled_at": settled_at}
        finally:
            # the next demo starts them when its groups have settled
            with suppress(OSError):
                api.pause(FIRST + LATER, paused=True)

    @property
    def _airflow_home(self) -> Path:
        return self.home / "airflow"

    def write_config(self, bootstrap: str) -> None:
        """Write the configuration that the DAGs use."""
        text = CONFIG.format(lake=self.home / "lake", name=self.name, bootstrap=bootstrap)
        self.config.write_text(text + ("" if self.cluster else RULES))

    def environment(self, facts: Mapping[str, Any]) -> dict[str, str]:
        """The settings as an Airflow of one's own would have them: connections and variables."""
        found = {
            "EVENKEEL_CONFIG": str(self.config),
            "EVENKEEL_SCHEDULE": os.environ.get("EVENKEEL_SCHEDULE", SCHEDULE),
            "EVENKEEL_WATCH_SCHEDULE": os.environ.get("EVENKEEL_WATCH_SCHEDULE", WATCH_SCHEDULE),
            "AIRFLOW_CONN_EVENKEEL_POSTGRES": facts["database_url"],
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
        }
        if "slack_base_url" in facts:
            slack_connection = {
                "conn_type": "slack",
                "password": LOCAL_TOKEN,
                "extra": {"base_url": facts["slack_base_url"], "channel": "#kafka"},
            }
            found["AIRFLOW_CONN_EVENKEEL_SLACK"] = json.dumps(slack_connection)
        return found


def _psycopg2(url: str) -> str:
    """The URL as Airflow's driver takes it."""
    return "postgresql+psycopg2" + url[url.index("://") :]


def _all_known(api: AirflowApi) -> bool:
    for problem in api.call("GET", "importErrors")["import_errors"]:
        last = problem["stack_trace"].strip().splitlines()[-1]
        raise LocalClusterError(f"{problem['filename']} cannot be imported: {last}")
    known = {dag["dag_id"] for dag in api.call("GET", "dags")["dags"]}
    return known >= {*FIRST, *LATER}


def _soon(condition: Callable[[], Any]) -> bool:
    with suppress(LocalClusterError):
        return bool(wait_until(condition, 5, "a run", interval=0.5))
    return False


def run(demo: Demo) -> None:
    """Own all services until SIGTERM; whatever is left of them then is ended, too."""
    state = StateFile(demo.state, cluster=demo.cluster, name=demo.name, config=str(demo.config))
    if demo.cluster is None:
        forget_snapshots(demo.home / "lake", demo.name)
        demo.messages.unlink(missing_ok=True)
    supervisor = Supervisor(demo.services(), state)
    supervisor.asked_to_end = asked_to_end()
    try:
        supervisor.run()
    finally:
        sweep(demo.home)


def main() -> None:
    """Run the daemon."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--cluster", help="host:port of a cluster to look at, instead of our own")
    given = parser.parse_args()
    run(Demo(given.home.resolve(), given.cluster))


if __name__ == "__main__":
    main()
