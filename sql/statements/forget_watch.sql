-- Forgets how far the groups of a cluster were watched. A row comes back unless another snapshot was looked at meanwhile, or
-- it was forgotten before.
--
-- Parameters:
--   :cluster text  Configured name of the cluster.
--   :before text   The snapshot of the watch that is to be forgotten.
DELETE FROM group_watch
WHERE cluster = CAST(:cluster AS text) AND snapshot_id = CAST(:before AS text)
RETURNING cluster;
