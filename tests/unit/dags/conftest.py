"""The DAGs of this checkout, loaded once as Airflow's DAG processor would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers import dagbag


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Import errors, DAGs and heavy modules, see `tests.helpers.dagbag`."""
    return dagbag.load(dagbag.DAGS, tmp_path_factory.mktemp("airflow"))


@pytest.fixture(autouse=True)
def airflow_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for what tasks keep on their machine."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    return tmp_path
