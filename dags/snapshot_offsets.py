"""
### Take a snapshot of every cluster

**What it does.** One task instance per configured cluster.

1. `take_snapshot` reads members, assignments and committed offsets of every group, and offsets of every
   partition. It writes them to the lake and a row to the table `snapshot`, which triggers a run of
   `advise_assignments`. It needs DESCRIBE permissions only and changes nothing.
2. `watch_groups` evaluates the groups and notifies of new, worse and resolved incidents. It doesn't wait for
   slow steps.
3. `heartbeat` calls `heartbeat_url`, if configured.

**When it fails.** Only the cluster of the failed instance is affected. The last line of its log has the address,
the error and the fix: *did not answer* (check brokers, listener and firewall), *not authorized* (check the
connection `evenkeel_<cluster>`), *another Kafka cluster answers under this name* (check the bootstrap address).
A snapshot with unreadable groups is stored as `partial`. So is one that reaches `timeout_seconds` (at most three
quarters of the task's time limit), with the data read by then. A skipped instance means that the previous
snapshot of the cluster is still active. Slack is notified after two failed runs or two partial snapshots of a
cluster. A failed `watch_groups` doesn't delay advice; the next step sends its notifications.

**How to run it again.** Clear the failed instance, or trigger the DAG with `cluster`. Missed snapshots can't be taken
later. A retry takes a new snapshot, unless the failed try stored one. `watch_groups` can be cleared at any time:
it evaluates the newest snapshot only, and doesn't repeat notifications.

**Where to look.**

    select snapshot_id, started_at, partial, problems from snapshot
    order by started_at desc limit 10;
    select started_at, cluster, step, error, link from step_run
    where outcome = 'failed' order by started_at desc limit 10;
    select cluster, group_id, kind, began_at from incident where closed_at is null;
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import Param, dag, task, task_group

from evenkeel.dags import defaults

SCHEDULE = ("EVENKEEL_SCHEDULE", "*/5 * * * *")


@dag(
    dag_id="snapshot_offsets",
    doc_md=__doc__,
    schedule=defaults.schedule(*SCHEDULE),
    params={
        "cluster": Param(
            None,
            type=["null", "string"],
            title="Cluster",
            description="Configured name of the only cluster to read; empty for all.",
        )
    },
    tags=["evenkeel", "kafka"],
    **defaults.DAG,
)
def snapshot_offsets() -> None:
    """Take a snapshot of every configured cluster."""

    @task
    def list_clusters(params: dict[str, Any]) -> list[str]:
        from evenkeel.dags import runtime

        return runtime.list_clusters(params["cluster"])

    gap = defaults.shortest_gap(*SCHEDULE)
    # the name of the cluster, instead of a number, labels each instance
    label = {"map_index_template": "{{ task.op_kwargs['cluster'] }}"}

    @task(outlets=[defaults.SNAPSHOT], **label, **defaults.within(gap))
    def take_snapshot(cluster: str, **context: Any) -> str:
        from evenkeel.dags import runtime

        snapshot_id = runtime.take_snapshot(
            cluster, run=context["run_id"], limit=context["task"].execution_timeout
        )
        context["outlet_events"][defaults.SNAPSHOT].add_partitions([snapshot_id])
        return snapshot_id

    # a message that comes late is better than none, however short the gap
    patient = {"execution_timeout": max(gap * 0.4, timedelta(minutes=1))}

    @task(**label, **defaults.within(gap) | patient)
    def watch_groups(cluster: str, snapshot_id: str) -> None:
        from evenkeel.dags import runtime

        runtime.watch_groups(snapshot_id)

    # nothing went wrong with this cluster: whoever listens outside hears that all this is alive
    @task(**label)
    def heartbeat(cluster: str) -> None:
        from evenkeel.dags import runtime

        runtime.heartbeat(cluster)

    # instance by instance: no cluster waits for the snapshot of another, or is held up by its failure
    @task_group(prefix_group_id=False)
    def each_cluster(cluster: str) -> None:
        # by name, so that the label finds it
        watched = watch_groups(cluster=cluster, snapshot_id=take_snapshot(cluster=cluster))
        watched >> heartbeat(cluster=cluster)

    each_cluster.expand(cluster=list_clusters())


DAG = snapshot_offsets()
