"""
evenkeel's engine: plain Python that knows no Airflow, no Spark and no Great Expectations.

Read it in this order, bottom to top; a module may import what stands above it in this list:

1. `errors`      every error, with its exit code
   `text`        the few text helpers that errors and problems need
   `columns`     how a column is declared, once
   `labels`      one word of an enumeration per row of an array
   `environment` which Python and which source run here
   `followers`   what runs inside consumers or brokers: assignors that follow a stored plan; needs nothing of the rest
   `facts`       what is known beyond a number: gains, losses, findings, proofs, reasons
2. `figures`     what the judge says of an assignment
   `model`       frozen values: groups as they are, assignments as they could be
   `batch`       many groups side by side in arrays; sums and counts per group
   `records`     one frozen record per kind of stored row; tables, schemas, rows and JSON follow from it
3. `datasets`    the lake's tables, and how their rows become groups
   `message`     what is said to people, as a frozen value
4. `metrics`     lag, rates, status, spread, rack distance: pure functions of a group and its past
   `ports`       what lies outside (Kafka, the lake, Postgres, Slack): one small Protocol per use
   `config`      settings, validated with the key and the fix
5. `assignor`    what a strategy is, and the integers it works on
6. `kit`         what several strategies share
7. `assignors`   one strategy per file; `ASSIGNORS` is the table of them
   `scoring`     the judge, which knows no strategy
   `streams`     tasks and clients of Kafka Streams
   `forecast`    what becomes of a group's backlog: low, expected, high
   `incidents`   when something is wrong with a group or a pipeline, since when, and when it is over
   `wording`     the one place where values become words; only `cli`, `alerting` and `steps` ask it
8. `advice`      scores, history and policy -> advice, always with its reason
   `alerting`    what is worth saying, and how to say it
   `conformance` the promises every strategy keeps
   `report`      what a report shows, as values, and the HTML file that shows it
9. `steps`       the pipeline, one function per step, and the walk that takes many snapshots through it
   `adapters`    the only folder that imports a client library; `memory` is a history of a run that nobody keeps
10. `wiring`     settings -> real adapters
11. `cli`        the command `evenkeel`
"""
