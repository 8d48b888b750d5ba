-- Store a silence; of a window that is noted already, what the configuration says of it now. Its number comes back.
--
-- Parameters:
--   :kind text              Whether it is a silence, an ack or planned maintenance.
--   :cluster text           Shell pattern of the clusters that it covers.
--   :groups text            Shell pattern of the groups that it covers.
--   :cluster_regex text     The same as a regular expression.
--   :groups_regex text      The same as a regular expression.
--   :starts_at timestamptz  When it begins.
--   :ends_at timestamptz    When it is to end; null: with its incidents.
--   :reason text            Why.
--   :who text               Who wanted it so.
INSERT INTO silence (
    kind, cluster, groups, cluster_regex, groups_regex, starts_at, ends_at, reason, who
)
VALUES (
    CAST(:kind AS text),
    CAST(:cluster AS text),
    CAST(:groups AS text),
    CAST(:cluster_regex AS text),
    CAST(:groups_regex AS text),
    CAST(:starts_at AS timestamptz),
    CAST(:ends_at AS timestamptz),
    CAST(:reason AS text),
    CAST(:who AS text)
)
ON CONFLICT (cluster, groups, starts_at) WHERE kind = 'maintenance' AND ended_at IS NULL
DO UPDATE SET ends_at = excluded.ends_at, reason = excluded.reason, end_told_at = NULL
RETURNING silence_id;
