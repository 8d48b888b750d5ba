"""
The frozen values everything else speaks of: groups as they are, assignments as they could be.

Unknown is None, and inside arrays a mask (`Column.known`); never 0 or -1. The one exception is an *index*
(owner, rack): there `NONE` means "nobody" or "no rack known", because an index is never a measurement.
Times are aware UTC, or milliseconds since the epoch where the name ends in `_ms`. Lag is in offsets.

Nothing is imported here; take it from its module. `errors`, `text`, `formats` (a form for each quantity people read),
`columns` (how a column is declared), `labels` (a word per row of an array) and `environment` need nothing else; `facts`
is what is known beyond a number, `figures` what the judge says of an assignment; `arrays`, `moments`, `states`,
`groups` and `assignments` are the values of groups;
`batch` has many groups side by side; `cluster_snapshot` is one reading of a cluster, `message` what is said to people.
"""
