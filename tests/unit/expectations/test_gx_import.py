"""What validating loads, and what it leaves alone."""

from __future__ import annotations

import json
import subprocess
import sys

import great_expectations.expectations as gxe
import pytest

from evenkeel.expectations import gx_import

pytestmark = pytest.mark.slow

PUT_OFF = ("pyspark", "scipy.optimize", "altair.vegalite", "narwhals")
"""Of what Great Expectations loads by itself; the two in the middle come with `scipy.stats` and `altair`."""


def told(program: str, *, quiet: bool = False) -> dict[str, object]:
    """What a program of its own process printed as JSON; `loaded()` tells which of `PUT_OFF` there are."""
    before = f"""
__file__ = "a script"  # Spark takes a program without a file for a test of its own
import json, sys
def loaded():
    return [name for name in {PUT_OFF!r} if name in sys.modules]
"""
    command = [sys.executable, "-c", before + program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not (quiet and run.stderr)
    found: dict[str, object] = json.loads(run.stdout)
    return found


def test_validating_logs_nothing_and_loads_neither_spark_nor_what_draws():
    """Great Expectations loads them in its own way, which takes twice as long, and logs what no task's log is for."""
    found = told(
        """
import logging
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.expectations.run import validate_snapshot
from tests.helpers.snapshots import make_snapshot, store
lake = Recording()
rows = len(validate_snapshot(lake, Settings(), *store(lake, make_snapshot())))
print(json.dumps({"rows": rows > 20, "loaded": loaded()}))
""",
        quiet=True,
    )
    assert found == {"rows": True, "loaded": []}


def test_a_process_that_has_spark_keeps_it():
    """What is loaded already is left as it is."""
    found = told("""
import pyspark
from evenkeel.expectations import gx_import
gx_import.load_great_expectations()
left = [finder for finder in sys.meta_path if isinstance(finder, gx_import._Sparing)]
print(json.dumps({"same": sys.modules["pyspark"] is pyspark, "left": len(left)}))
""")
    assert found == {"same": True, "left": 0}


def test_its_models_are_those_it_makes_itself_and_what_was_put_off_is_there_for_whoever_asks():
    """Fields, defaults and validators are as after an ordinary import; nothing is taken away from the process."""
    shown = """
import great_expectations.expectations as gxe
from pydantic.v1 import main, utils
kinds = sorted(name for name in vars(gxe) if name.startswith("Expect"))
fields = [
    (kind, name, repr(field), sorted(field.class_validators), len(field.validators or ()))
    for kind in kinds for name, field in getattr(gxe, kind).__fields__.items()
]
found = {"fields": fields, "deep": main.smart_deepcopy is utils.smart_deepcopy}
"""
    ours = told(f"""
from evenkeel.expectations import gx_import; gx_import.load_great_expectations()
{shown}
import altair, pyspark, scipy.stats
mean = float(scipy.stats.norm.mean(loc=3))
chart = altair.Chart.__name__
more = {{"mean": mean, "chart": chart, "spark": pyspark.__name__, "loaded": loaded()}}
print(json.dumps(found | more))
""")
    assert len(ours["fields"]) > 500
    more = {"mean": 3.0, "chart": "Chart", "spark": "pyspark", "loaded": list(PUT_OFF)}
    assert ours == told(f"{shown}\nprint(json.dumps(found))") | more


def test_an_expectation_is_configured_anew_after_a_validation():
    """While it is validated nothing changes it; before and after, a change is seen."""
    gx_import.load_great_expectations()
    one = gxe.ExpectColumnValuesToNotBeNull(column="a")
    with gx_import.configured_once():
        assert one.configuration is one.configuration
    one.column = "b"

    assert one.configuration.kwargs["column"] == "b"
