"""
Rebalances with a known cause: groups of real processes on real brokers, recorded as snapshots every ten seconds.

    python -m tests.rebalances                           # records all scenes again, in about a quarter of an hour
    python -m tests.rebalances deploy "crash loop"       # some of them
    python -m tests.rebalances --out DIR

Each scene leaves a recording and its truth in `tests/data/rebalances`. `scenes` says what is done to which group,
`member` is a member's process, `run` does it and takes snapshots, `truth` is what members and brokers wrote down.
"""
