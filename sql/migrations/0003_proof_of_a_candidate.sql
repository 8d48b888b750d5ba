-- A strategy of ours can prove how good its answer is; and every answer can be flawed, as Kafka's own sometimes are.

ALTER TABLE candidate ADD COLUMN proof text;

COMMENT ON COLUMN candidate.proof IS
    'What is proven of the assignment: "exact", or how far from its floor it is at most; null when nothing is claimed.';
COMMENT ON COLUMN candidate.findings IS
    'What is wrong with the assignment, if anything (Kafka''s classes can give a partition to two members).';
COMMENT ON COLUMN candidate.replay IS
    'Begins "next rebalance" when members report what they own now, else "fresh assignment"; null without score.';
