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
    "A line is {id, strategy, topics: {name: {partitions: [[rack, ...], ...]}}, members: [{id, topics, ...}]}; "
    "its answer is {id, assignment: {member: [[topic, partition], ...]}}, exactly what Kafka's class would send. What "
    "must be given up first stands in transferring, what is wrong with it in findings, what of the case the strategy "
    "does not read in notes. A line that is no case, for a field that there is not too, gets {id, error} in its place "
    "and the rest is answered: that is an answer too, so the exit code stays 0.",
    "A topic may also have lags, rates, bytes_per_record, leaders and id; instead of lags begin, end and committed "
    "offsets, with which auto_offset_reset beside topics says what no commit means (without it: latest, lagging by 0). "
    "A member may have instance_id, rack, capacity (offsets/s), owned, generation, user_data and config; a case costs: "
    "{traffic, non_overlap} for min_traffic and balance_subtopology, and explain: [topic, partition], whose steps then "
    "stand in why. Lists of a topic have one entry per partition, "
    "null where unknown. A case with tasks and clients is one of Kafka Streams.",
)


def assign(
    repeat: Annotated[
        int | None,
        option(
            "--repeat N",
            "Ask each strategy N times; adds the median of its own time in milliseconds.",
            min=1,
        ),
    ] = None,
    settled: Annotated[
        bool,
        option(
            "--settled",
            "Follow a cooperative group until nothing waits to be given up; adds how many rounds that takes.",
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
