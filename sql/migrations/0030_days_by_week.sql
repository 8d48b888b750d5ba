-- The weeks of all groups are found without reading all days that there are: `churn_weekly` of the last ones.

CREATE INDEX group_day_week ON group_day (date_bin('7 days', since, '2000-01-03 00:00:00+00'));
