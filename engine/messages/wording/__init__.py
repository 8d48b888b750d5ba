"""
The one place where values become words: for the command line, for messages, and for the sentences stored beside them.

`names` has one short name for each member, as `model.formats` has one form for each quantity. `facts` puts a fact into
words by the tables `CLAUSES` of `troubles`, `changes`, `course`, `deployment`, `election`, `streams`, `assumptions`,
`unread` and `gains_and_losses`, which hold templates (`clauses` says what these may name), and by the sentences of the
`manual`, templates of what `evenkeel runbook` prints. `advice` explains a verdict or a candidate by its facts,
`short_reasons` a verdict in the width of a column; `outlook` says what a switch brings and costs, and what came of it;
`incidents` says what somebody is woken for, and what to do about it, by the lines of `troubles` and `pipelines`.
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
from .advice import because, how, possible, reasons
from .deployment import look_again
from .election import why_elected
from .facts import each_with_remarks, formatted, proof, replay, words
from .forecasts import across, band
from .names import member_names

__all__ = [
    "ARROW",
    "across",
    "and_more",
    "band",
    "because",
    "byte_rate",
    "change",
    "counts",
    "does",
    "duration",
    "each_with_remarks",
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
    "possible",
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
