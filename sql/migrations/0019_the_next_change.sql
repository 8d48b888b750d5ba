-- What a strategy would move when one member leaves, one joins, or all restart one by one.

ALTER TABLE candidate
    ADD COLUMN leave_moves_mean double precision,
    ADD COLUMN leave_moves_of_others_mean double precision,
    ADD COLUMN leave_moves_worst integer,
    ADD COLUMN join_moves integer,
    ADD COLUMN restart_moves bigint,
    ADD COLUMN members_tried integer;

COMMENT ON COLUMN candidate.leave_moves_mean IS
    'Partitions that change owner when one member leaves, its own included: mean over the members tried.';
COMMENT ON COLUMN candidate.leave_moves_of_others_mean IS
    'Of those, partitions that another member owned: mean. 0: what the leaving one had is all that moves.';
COMMENT ON COLUMN candidate.leave_moves_worst IS
    'Partitions that change owner when the member tried leaves that moves most by it.';
COMMENT ON COLUMN candidate.join_moves IS
    'Partitions that change owner when a member joins that is like the first of those tried.';
COMMENT ON COLUMN candidate.restart_moves IS
    'Partitions that change owner in all while one after another restarts; scaled up from those tried.';
COMMENT ON COLUMN candidate.members_tried IS
    'How many of its members were let leave: three at most, fewer where there are many partitions.';
