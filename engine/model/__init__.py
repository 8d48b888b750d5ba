"""
The frozen values of the engine: groups as read from Kafka, and candidate assignments.

Unknown is None, and inside arrays a mask (`Column.known`); never 0 or -1. The one exception is an *index*
(owner, rack): there `NONE` means "no owner" or "unknown rack". Times are aware UTC, or milliseconds since the epoch if
the name ends in `_ms`. Lag is in offsets.

Import values from their modules. `errors`, `text`, `formats` (formats of quantities), `columns` (declaration of
columns), `labels` (enumerations in arrays) and `environment` have no dependencies. `facts` are findings and reasons,
`figures` the scores of an assignment; `arrays`, `moments`, `states`, `groups` and `assignments` are the values of
groups; `batch` has many groups in shared arrays; `cluster_snapshot` is a snapshot, `message` a notification. `command`,
`files`, `logs`, `deadline` and `no_redirects` are how names, files and calls are handled everywhere.
"""
