-- Inserts a cluster if it is unknown; returns its first known Kafka cluster id.
--
-- Parameters:
--   :cluster text            Configured name of the cluster.
--   :kafka_cluster_id text   Id that Kafka reports now; null if unknown.
--   :started_at timestamptz  Start of the snapshot.
INSERT INTO cluster (cluster, kafka_cluster_id, first_seen_at)
VALUES (:cluster, CAST(:kafka_cluster_id AS text), CAST(:started_at AS timestamptz))
ON CONFLICT (cluster) DO UPDATE SET
    kafka_cluster_id = coalesce(cluster.kafka_cluster_id, excluded.kafka_cluster_id),
    first_seen_at = least(cluster.first_seen_at, excluded.first_seen_at)
RETURNING kafka_cluster_id;
