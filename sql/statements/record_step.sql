-- Notes how a run of a step ended.
--
-- Parameters:
--   :cluster text             Configured name of the cluster; null when the step concerns all.
--   :snapshot_id text         The snapshot; null when there is none.
--   :step text                Name of the step.
--   :started_at timestamptz   When it began.
--   :finished_at timestamptz  When it ended.
--   :outcome text             ok, failed or skipped.
--   :error text               Why it failed or was skipped; null when it was not.
--   :link text                Address of the task in Airflow; null elsewhere.
INSERT INTO step_run (cluster, snapshot_id, step, started_at, finished_at, outcome, error, link)
VALUES (
    CAST(:cluster AS text),
    CAST(:snapshot_id AS text),
    :step,
    CAST(:started_at AS timestamptz),
    CAST(:finished_at AS timestamptz),
    :outcome,
    CAST(:error AS text),
    CAST(:link AS text)
);
