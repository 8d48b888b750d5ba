"""The error family: documented, coded, picklable, on one line."""

from __future__ import annotations

import pickle

import pytest

from evenkeel.engine.model.errors import ClusterUnreachable, ConfigError, EvenkeelError


def _family(kind):
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)


@pytest.mark.parametrize("kind", list(_family(EvenkeelError)))
def test_every_error_is_documented_and_coded(kind):
    """The class's own sentence is its default message; the exit code says which part failed."""
    assert kind.__doc__
    assert 1 <= kind.exit_code <= 6
    assert str(kind()) == kind.__doc__.strip().splitlines()[0]


def test_the_fix_follows_the_message():
    """One line: what, then what to do."""
    error = ClusterUnreachable("no broker at h:1.", fix="Check the address.")

    assert str(error) == "no broker at h:1. Check the address."


def test_errors_travel_between_processes():
    """A Spark worker's error arrives whole."""
    error = pickle.loads(pickle.dumps(ConfigError("bad key.", fix="Mend it.")))

    assert (type(error), error.message, error.fix) == (ConfigError, "bad key.", "Mend it.")
