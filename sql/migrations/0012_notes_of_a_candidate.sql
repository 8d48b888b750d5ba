-- What an answer rests on and what else is to be said of it, which is no flaw and holds no advice back.

ALTER TABLE candidate ADD COLUMN notes text[];

COMMENT ON COLUMN candidate.notes IS
    'What else is to be said of it: what was taken for what is not known, where tags and racks disagree.';
COMMENT ON COLUMN candidate.facts IS
    'Findings, notes, proof and replay as values, to ask with @>: a list of {kind, measure, before, ...}.';
