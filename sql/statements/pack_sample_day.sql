-- Packs the samples of a day, unless they are being read or written.
--
-- Parameters:
--   :day date  The day, in UTC.
SELECT pack_sample_day(CAST(:day AS date)) AS packed;
