"""`evenkeel assign`: what would this strategy do with this group, for any number of groups on standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import IO, Annotated

from ...model.errors import InputError
from ..command_end import complain
from ..options import Strategies, epilog, option

EPILOG = epilog(
    [
        "evenkeel assign < cases.jsonl > answers.jsonl",
        "evenkeel assign --repeat 100 < cases.jsonl | jq .milliseconds",
        "evenkeel assign --strategy weighted.py:Weighted < cases.jsonl",
        'echo \'{"id": 1, "strategy": "range", "topics": {"t": {"partitions": [[], []]}}, '
        '"members": [{"id": "a", "topics": ["t"]}]}\' | evenkeel assign',
    ],
    [0, 2],
    "A line is {id, strategy, topics: {name: {partitions: [[rack, ...], ...]}}, members: [{id, topics, ...}]}. The "
    "answer is {id, assignment: {member: [[topic, partition], ...]}}: exactly what Kafka's class would send. "
    "transferring lists partitions that must be revoked first, findings what is wrong with the assignment, notes the "
    "fields that the strategy ignores. An invalid line gets {id, error}, and the exit code stays 0.",
    "A topic may also have lags, rates, bytes_per_record, leaders and id. Instead of lags it may have begin, end and "
    "committed offsets; auto_offset_reset beside topics (default latest, lag 0) applies to partitions without a "
    "commit. A member may have instance_id, rack, capacity (records/s), owned, generation, user_data and config. A "
    "case may have costs: {traffic, non_overlap} for min_traffic and balance_subtopology, and explain: [topic, "
    "partition], which adds the steps in why. Lists of a topic have one entry per partition, null if unknown. A case "
    "with tasks and clients is a Kafka Streams case.",
)


def assign(
    repeat: Annotated[
        int | None,
        option(
            "--repeat N",
            "Run each strategy N times and add its median time in milliseconds.",
            min=1,
        ),
    ] = None,
    settled: Annotated[
        bool,
        option(
            "--settled",
            "Continue a cooperative rebalance until no partition waits to be revoked, and add the number of rounds.",
        ),
    ] = False,
    strategies: Strategies = None,
) -> None:
    """Assign partitions for cases read from standard input (JSON lines)."""
    from ..assign_cases import answer_lines
    from ..custom import include_all

    include_all(strategies)
    if sys.stdin is None or sys.stdin.closed:
        raise InputError(
            "there is no standard input.", fix="Pipe cases in, one JSON object per line."
        )
    if sys.stdin.isatty():
        complain("reading cases from the terminal, one JSON object per line; Ctrl-D ends")
    for answer in answer_lines(_lines(sys.stdin.buffer), repeat, settled):
        print(answer, flush=True)


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    try:
        yield from stream
    except OSError as problem:
        raise InputError(
            f"standard input cannot be read: {problem.strerror or problem}.",
            fix="Pipe cases in, one JSON object per line.",
        ) from problem
