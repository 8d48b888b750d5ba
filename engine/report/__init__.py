"""
The report: what is known of a fleet of groups as values, and the one HTML file that shows them.

`values` is all that a page shows; whoever has these values from somewhere, the lake or a database, gets the same page.
`page` makes the file: a template that escapes everything, our own style and script, and uPlot, which draws the charts.
`rehearsal` asks the what-if about each rack that may be lost. Nothing here reads anything, and nothing in the file asks
for anything.
"""

from ..model.text import group_name
from .page import Served, notice, policy, render
from .values import FleetReport

__all__ = ["FleetReport", "Served", "group_name", "notice", "policy", "render"]
