-- Packs the samples of a day, unless somebody reads or writes them.
--
-- Parameters:
--   :day date  The day, in UTC.
SELECT pack_sample_day(CAST(:day AS date)) AS packed;
