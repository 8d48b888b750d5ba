"""
Turns values into words: for the command line, for messages, and for stored sentences.

`names` has a short name for each member, as `model.formats` has a form for each quantity. `facts` turns a fact into
words by the tables `CLAUSES` of `troubles`, `changes`, `lifecycle`, `deployment`, `election`, `streams`, `assumptions`,
`unreadable`, `readiness` and `gains_and_losses`, whose templates `clauses` describes, and by the sentences of
`runbook`. `advice` explains a verdict or a candidate by its facts, and `short_reasons` a verdict in the width of a
column. `forecasts` has effect, cost and outcome of a switch. `incidents` has the words of alerts, from `troubles` and
`pipelines`.
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
