-- A snapshot says of how many groups it could not tell all: problems are sentences, this can be counted.

ALTER TABLE snapshot ADD COLUMN unreadable_groups integer;

COMMENT ON COLUMN snapshot.unreadable_groups IS
    'Number of its groups that could not be read, in whole or in part; null when that was not noted.';
