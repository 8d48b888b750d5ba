-- When snapshots come faster than they are worked on, one run takes all that wait: who took one up, and what overtook it.

ALTER TABLE snapshot
    ADD COLUMN taken_up_at timestamptz,
    ADD COLUMN taken_up_by text,
    ADD COLUMN overtaken_by text;

COMMENT ON COLUMN snapshot.taken_up_at IS 'When a run began to work on its advice; null before.';
COMMENT ON COLUMN snapshot.taken_up_by IS 'Id of that run; null before, and where no schedule runs the steps.';
COMMENT ON COLUMN snapshot.overtaken_by IS
    'The newer snapshot of its cluster that was advised on in its place; it has metrics, no advice of its own. Null: none was.';
