"""
A model of faults: the pipeline with whatever may go wrong, drawn from a seed, and what has to hold afterwards.

    python -m tests.faults --seeds 100      # a line for each seed, then what was lost, doubled or false in all
    python -m tests.faults --seed 17        # one seed, with its plan and what its tasks said

**The model.** The tasks of the DAGs run in their order and with their retries (`scheduler`), by the functions that the
DAGs call, on a real Postgres, a lake of files and a server that speaks Slack's API (`run`). The cluster is a simulation
of six groups (`world`): one is well, the others are ill for a while or for good, and one takes up what it is advised.
Time is simulated, for tasks, database and Slack (`clock`).

**Faults** (`plan`), in the middle of a task, before or after one of its calls of a port (`ports`):

- the clock of the tasks, of the database or of both leaps, and leaps back; runs begin in the nights of summer time
- a task runs twice at once, in threads or processes, or is killed
- Postgres is restarted (clean, as by a crash, or killed), or stays away
- the cluster has an expired certificate, a coordinator that moves, an unread group; it is slow, another one, or away
- a file or manifest of the lake is removed or cut, the disk is full, the folder is gone
- Slack answers 429, 5xx, a redirect or a refusal, resets connections, or keeps a message and does not say so

**Promises** (`promises`), once faults are over:

- each run left one snapshot in lake and history, with its end, or a line that says why not
- advice, its events and incidents are there once; each message is in Slack once, and none is lost or pending
- incidents of groups and the verdict on each are those of the same run without faults
- incidents of the pipeline are over, and each error is one line

**Left out:** processes of Airflow and Spark, which are too slow here, and the rules of validation (its tables are read,
and pass): `tests.stage chaos` has them. Simulating membership changes is off (`ask_next_change`), so what is advised of
the next change is left out, too. Kafka's errors are raised as its reader raises them, not by brokers.
"""
