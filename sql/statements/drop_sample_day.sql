-- Drops the samples of a day, unless they are being read or written.
--
-- Parameters:
--   :day date  The day, in UTC.
SELECT drop_sample_day(CAST(:day AS date)) AS dropped;
