-- Where the run of a step can be looked at: tries of one run have one address, so runs can be counted.

ALTER TABLE step_run
    ADD COLUMN link text;

COMMENT ON COLUMN step_run.link IS 'Address of the task in Airflow, one for all tries of a run; null elsewhere.';
