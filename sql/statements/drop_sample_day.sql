-- Drops the samples of a day, unless somebody reads or writes any.
--
-- Parameters:
--   :day date  The day, in UTC.
SELECT drop_sample_day(CAST(:day AS date)) AS dropped;
