-- Why a strategy can or cannot run, and what to do for it, are kept as values too.

COMMENT ON COLUMN candidate.facts IS
    'Reason, how, findings, notes, proof and replay as values, to ask with @>: a list of {kind, measure, ...}.';
