"""
evenkeel's engine: plain Python that knows no Airflow, no Spark and no Great Expectations.

Read it in this order, bottom to top; a module may import what stands above it in this list:

1. `followers`  what runs inside consumers or brokers: assignors that follow a stored plan; needs nothing of the rest
2. `model`      frozen values: groups as they are and as they could be, many groups in arrays, facts, errors, messages
3. `records`    one frozen record per kind of stored row; tables, schemas, rows and JSON follow from it
4. `config`     settings, validated with the key and the fix
   `ports`      what lies outside (Kafka, the lake, Postgres, Slack): one small Protocol per use
5. `snapshots`  the rows of the lake, how they become groups with their past, and what differs between two snapshots
6. `metrics`    lag, rates, status, spread, rack distance, and the forecast: pure functions of groups and their past
7. `assignors`  one strategy per file; `ASSIGNORS` is the table of them
                (`interface`: what a strategy is; `kit`, `kafka`, `flow`: what several share; `promises`)
8. `streams`    tasks and clients of Kafka Streams
9. `incidents`  when something is wrong with a group or the pipeline, since when, and when it is over
10. `advice`    scores, history and policy -> advice, always with its reason
    `messages`  values -> words (`wording`) -> what is told, to whom, once
11. `pipeline`  the pipeline, one function per step, the walk that takes many snapshots through it, and what-if
12. `report`    a fleet as values, and the HTML file that shows it
    `adapters`  the only folder that imports a client library; `memory` is a history of a run that nobody keeps
13. `wiring`    settings -> real adapters
14. `cli`       the command `evenkeel`

Inside this folder imports are relative: it is installed as `evenkeel.engine`, and an editor, a type checker or a graph
tool sees every one of these arrows from the files alone.
"""
