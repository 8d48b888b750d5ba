"""
The one place where values become words: for the command line, for messages, and for the sentences stored beside them.

`names` has one short name for each member, as `model.formats` has one form for each quantity; `facts` puts a fact into
words with the clauses of `diagnosing`, `changing`, `deploying`, `electing`, `streams`, `supposing` and `reading`, and
with the sentences of the `manual`, which are templates as is all that `evenkeel apply` prints;
`advice` explains a verdict or a candidate by its facts; `outlook` says what a switch brings and costs, and what came of
it; `incidents` says what somebody is woken for, and what to do about it, of a pipeline by the lines of `pipelines`.
"""

from ...model.formats import (
    ARROW,
    byte_rate,
    change,
    counts,
    duration,
    moment,
    money,
    offsets,
    percent,
    since,
)
from ...model.text import and_more, does, listed, named, sentence, several, shortened
from .advice import because, how, reasons
from .deployment import look_again
from .election import why_elected
from .facts import formatted, proof, replay, words
from .names import member_names
from .outlook import across, ahead, band, came, price, promised

__all__ = [
    "ARROW",
    "across",
    "ahead",
    "and_more",
    "band",
    "because",
    "byte_rate",
    "came",
    "change",
    "counts",
    "does",
    "duration",
    "formatted",
    "how",
    "listed",
    "look_again",
    "member_names",
    "moment",
    "money",
    "named",
    "offsets",
    "percent",
    "price",
    "promised",
    "proof",
    "reasons",
    "replay",
    "sentence",
    "several",
    "shortened",
    "since",
    "why_elected",
    "words",
]
