"""What validating loads, and what it leaves alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PUT_OFF = ("pyspark", "scipy.optimize", "altair.vegalite", "narwhals")
"""Of what Great Expectations loads by itself; the two in the middle come with `scipy.stats` and `altair`."""


def told(program: str) -> dict[str, object]:
    """What a program of its own process printed as JSON; `loaded()` tells which of `PUT_OFF` there are."""
    before = f"""
__file__ = "a script"  # Spark takes a program without a file for a test of its own
import json, sys
def loaded():
    return [name for name in {PUT_OFF!r} if name in sys.modules]
"""
    command = [sys.executable, "-c", before + program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, object] = json.loads(run.stdout)
    return found


def test_validating_loads_neither_spark_nor_what_draws_and_compares_distributions():
    """Great Expectations loads them in its own way: twice its time, in each of two tasks of a run."""
    found = told("""
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.expectations.run import validate_snapshot
from tests.helpers.snapshots import make_snapshot, store
lake = Recording()
rows = len(validate_snapshot(lake, Settings(), *store(lake, make_snapshot())))
print(json.dumps({"rows": rows > 20, "loaded": loaded()}))
""")
    assert found == {"rows": True, "loaded": []}


def test_what_was_put_off_is_there_for_whoever_asks():
    """Nothing is taken away from the rest of the process."""
    found = told("""
from evenkeel.expectations.gx_import import load_great_expectations
load_great_expectations()
import altair, pyspark, scipy.stats
mean = float(scipy.stats.norm.mean(loc=3))
chart = altair.Chart.__name__
print(json.dumps({"mean": mean, "chart": chart, "spark": pyspark.__name__, "loaded": loaded()}))
""")
    assert found == {"mean": 3.0, "chart": "Chart", "spark": "pyspark", "loaded": list(PUT_OFF)}


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


def test_its_models_are_those_it_makes_itself():
    """Fields, defaults and validators of every expectation are the same as after an ordinary import."""
    shown = """
import great_expectations.expectations as gxe
from pydantic.v1 import main, utils
kinds = sorted(name for name in vars(gxe) if name.startswith("Expect"))
fields = [
    (kind, name, repr(field), sorted(field.class_validators), len(field.validators or ()))
    for kind in kinds for name, field in getattr(gxe, kind).__fields__.items()
]
print(json.dumps({"fields": fields, "deep": main.smart_deepcopy is utils.smart_deepcopy}))
"""
    ours = told(
        "from evenkeel.expectations import gx_import; gx_import.load_great_expectations()" + shown
    )
    assert len(ours["fields"]) > 500
    assert ours == told(shown)


def test_an_expectation_is_configured_anew_after_a_validation():
    """While it is validated nothing changes it; before and after, a change is seen."""
    found = told("""
from evenkeel.expectations import gx_import
gx_import.load_great_expectations()
import great_expectations.expectations as gxe
one = gxe.ExpectColumnValuesToNotBeNull(column="a")
with gx_import.configured_once():
    same = one.configuration is one.configuration
one.column = "b"
print(json.dumps({"same": same, "then": one.configuration.kwargs["column"]}))
""")
    assert found == {"same": True, "then": "b"}
