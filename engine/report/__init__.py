"""
The report: the state of all groups of a cluster as values, and the HTML file that shows them.

`values` has the contents of a page, from the lake or a database. `page` renders the file: an escaping template, a
style, a script and uPlot for charts. `rack_outages` simulates the loss of each rack.
"""

from ..model.text import group_name
from .page import Served, notice, policy, render
from .values import FleetReport

__all__ = ["FleetReport", "Served", "group_name", "notice", "policy", "render"]
