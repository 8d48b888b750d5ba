"""
### Take a snapshot of every configured cluster

**What it does.** Reads, from each Kafka cluster, every group's members, assignment and committed
offsets and every partition's offsets; writes them to the lake and one row to the table `snapshot`.
Each snapshot then starts a run of `advise_assignments`. It needs DESCRIBE rights only and changes
nothing. Right after it `watch_groups` says what is wrong with groups, got worse or is over: incidents
wait for nothing that is slow. At last `heartbeat` calls the address of `heartbeat_url`, if there is one.

**When it fails.** One task instance is one cluster; the others are not affected. The last line of
its log names the address, what happened and the fix: *did not answer* (brokers, listener,
firewall), *not authorized* (the connection `evenkeel_<cluster>`), *another Kafka cluster answers
under this name* (a changed bootstrap address). A snapshot in which single groups could not be read
is kept and marked `partial`; so is one of a cluster that was too slow (`timeout_seconds`, three
quarters of the task's own limit at most), with what was read until then. A skipped instance means
that the previous snapshot of this cluster is still being taken. Slack hears of a cluster that cannot be
read after two failed runs, of partial snapshots after two. A `watch_groups` that fails keeps nobody from
being advised; what it could not send is sent by whichever step sends next.

**How to run it again.** Clear the failed instance, or trigger the DAG with `cluster` set. What was
missed cannot be caught up: the next run simply reads what is there now. A retry takes a new
snapshot, unless the failed try had already stored one: then that one counts. `watch_groups` may be
cleared at any time: it speaks for the newest snapshot only, and says nothing twice.

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
            description="Take a snapshot of this configured cluster only; empty means all.",
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
