"""
A corpus: recordings of real brokers in `tests/data/corpus`, each with the truth of its run beside it.

    python -m tests.corpus                  # makes all three again, in about an hour
    python -m tests.corpus twins            # one of them

`truth` (what is written down of a run), `known` (what the stage knows of its groups), `compared` (what evenkeel says
beside it). `docs/reference/corpus.md` says how to read the files.
"""
