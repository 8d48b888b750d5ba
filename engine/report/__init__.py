"""
The report: a fleet of groups as values, and the HTML file that shows them.

`values` is all that a page shows. The same values, from a lake or from the database, give the same page. `page` renders
the file: a template that escapes everything, our style and script, and uPlot for charts. `rack_outages` forecasts the
loss of each rack. Nothing here reads data, and the file loads nothing.
"""

from ..model.text import group_name
from .page import Served, notice, policy, render
from .values import FleetReport

__all__ = ["FleetReport", "Served", "group_name", "notice", "policy", "render"]
