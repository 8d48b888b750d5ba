-- Which strategy a group runs, by our names: decided where strategies are known, and stored.

ALTER TABLE candidate ADD COLUMN is_running boolean;

COMMENT ON COLUMN candidate.is_running IS
    'Whether the group runs it, as far as can be seen (Streams: it gives what the group has); null: unknown.';
