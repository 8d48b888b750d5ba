-- Makes sure a cluster is known; returns the id Kafka gave it, which stays what it was first.
--
-- Parameters:
--   :cluster text            Configured name of the cluster.
--   :kafka_cluster_id text   What it answered now; null when it did not say.
--   :started_at timestamptz  When the reading began.
INSERT INTO cluster (cluster, kafka_cluster_id, first_seen_at)
VALUES (:cluster, CAST(:kafka_cluster_id AS text), CAST(:started_at AS timestamptz))
ON CONFLICT (cluster) DO UPDATE SET
    kafka_cluster_id = coalesce(cluster.kafka_cluster_id, excluded.kafka_cluster_id),
    first_seen_at = least(cluster.first_seen_at, excluded.first_seen_at)
RETURNING kafka_cluster_id;
