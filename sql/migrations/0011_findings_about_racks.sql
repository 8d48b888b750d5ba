-- What is found about racks is found where assignments are judged, and said of the live one.

COMMENT ON COLUMN candidate.findings IS
    'What is wrong with the assignment, if anything; of the live one, what is found about its racks.';
