"""
The promises every strategy keeps, as checks that run on any class with the shape of an assignor.

`asking` asks and takes only an answer that fits; `promises` holds the checks: what a strategy breaks on
one group. `sketch` describes a group in names,
`groups` makes as many as wanted from a seed, `shrink` cuts one down while it still shows what is wrong,
and `examine` puts them together for a stranger's class: what it breaks over many groups, each with the
smallest group that shows it.
"""

from .ask import ask
from .examine import Examined, PromiseOutcome, examine
from .groups import DATA, sketches
from .promises import Violation, check
from .sketch import Sketch

__all__ = [
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
