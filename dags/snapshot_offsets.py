"""
### Take a snapshot of every configured cluster

**What it does.** Reads, from each Kafka cluster, every group's members, assignment and committed
offsets and every partition's offsets; writes them to the lake and one row to the table `snapshot`.
Each snapshot then starts a run of `advise_assignments`. It needs DESCRIBE rights only and changes
nothing.

**When it fails.** One task instance is one cluster; the others are not affected. The last line of
its log names the address, what happened and the fix: *did not answer* (brokers, listener,
firewall), *not authorized* (the connection `evenkeel_<cluster>`), *another Kafka cluster answers
under this name* (a changed bootstrap address). A snapshot in which single groups could not be read
is kept and marked `partial`; so is one of a cluster that was too slow (`timeout_seconds`, three
quarters of the task's own limit at most), with what was read until then. A skipped instance means
that the previous snapshot of this cluster is still being taken.

**How to run it again.** Clear the failed instance, or trigger the DAG with `cluster` set. What was
missed cannot be caught up: the next run simply reads what is there now. A retry takes a new
snapshot, unless the failed try had already stored one: then that one counts.

**Where to look.**

    select snapshot_id, started_at, partial, problems from snapshot
    order by started_at desc limit 10;
    select started_at, cluster, error from step_run
    where step = 'take_snapshot' and outcome = 'failed' order by started_at desc limit 10;
"""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param, dag, task

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

    # the name of the cluster, instead of a number, labels each instance
    @task(
        outlets=[defaults.SNAPSHOT],
        map_index_template="{{ task.op_kwargs['cluster'] }}",
        **defaults.within(defaults.shortest_gap(*SCHEDULE)),
    )
    def take_snapshot(cluster: str, **context: Any) -> str:
        from evenkeel.dags import runtime

        snapshot_id = runtime.take_snapshot(
            cluster, run=context["run_id"], limit=context["task"].execution_timeout
        )
        context["outlet_events"][defaults.SNAPSHOT].add_partitions([snapshot_id])
        return snapshot_id

    take_snapshot.expand(cluster=list_clusters())


DAG = snapshot_offsets()
