"""
Tasks to clients in racks at least total cost, each client getting a given number: exactly, and fast.

`solve` is KIP-925's min-cost flow on a compressed network; Streams tasks and the partitions of plain
groups both go through it. Read it in this order: `problem` (what is asked, and what need not be told apart), `network`
(arcs, and from their flow to owners), `solve` (the optimum from prices).
"""

from .problem import LayerLimits, RackProblem, limits_of
from .solve import solve, stays

__all__ = ["LayerLimits", "RackProblem", "limits_of", "solve", "stays"]
