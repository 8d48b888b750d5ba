"""
Situations: groups with a story, what is true of them, and what may be said.

`healthy` (nothing may be said), `sick` (a diagnosis, no switch), `lopsided` (the assignment is to blame), `clocks`
(days, weeks, hourly jobs), `wearing` (leaks, hosts, transactions, retention), `marginal` (switches that barely pay, or
don't, or mend a part).
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.helpers.fluid.situations.clocks import CLOCKS
from tests.helpers.fluid.situations.healthy import HEALTHY
from tests.helpers.fluid.situations.lopsided import LOPSIDED
from tests.helpers.fluid.situations.marginal import MARGINAL
from tests.helpers.fluid.situations.sick import SICK
from tests.helpers.fluid.situations.wearing import WEARING
from tests.helpers.fluid.truth import Situation

__all__ = ["SITUATIONS"]

SITUATIONS: Mapping[str, Situation] = {
    each.name: each for each in (*HEALTHY, *SICK, *LOPSIDED, *CLOCKS, *WEARING, *MARGINAL)
}
"""All situations by name."""
