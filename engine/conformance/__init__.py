"""
The promises every strategy keeps, as checks that run on any class with the shape of an assignor.

`asking` asks and takes only an answer that fits; `promises` holds the checks: what a strategy breaks on
one group. `sketch` describes a group in names,
`groups` makes as many as wanted from a seed, `shrink` cuts one down while it still shows what is wrong,
and `examine` puts them together for a stranger's class: what it breaks over many groups, each with the
smallest group that shows it.
"""

from evenkeel.engine.conformance.asking import ask
from evenkeel.engine.conformance.examine import Examined, PromiseOutcome, examine
from evenkeel.engine.conformance.groups import DATA, sketches
from evenkeel.engine.conformance.promises import CHECKS, Violation, check
from evenkeel.engine.conformance.sketch import Sketch

__all__ = [
    "CHECKS",
    "DATA",
    "Examined",
    "PromiseOutcome",
    "Sketch",
    "Violation",
    "ask",
    "check",
    "examine",
    "sketches",
]
