"""What an extra brings: `pip install evenkeel` has what the command line needs, `evenkeel[pipeline]` all that runs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .errors import InputError

EXTRAS: Mapping[str, str] = MappingProxyType(
    {
        "numba": "fast",
        "pyarrow": "lake",
        "alembic": "history",
        "psycopg": "history",
        "sqlalchemy": "history",
        "matplotlib": "plots",
        "mcp": "mcp",
        "opentelemetry": "otlp",
        "packaging": "spark",
        "pandas": "spark",
        "pyspark": "spark",
        "venv_pack": "spark",
        "airflow": "pipeline",
        "great_expectations": "pipeline",
        "httpx": "pipeline",
        "slack_sdk": "pipeline",
    }
)
"""Each module that only an extra brings, and which."""


def install(extra: str) -> str:
    """
    The command that installs an extra.

    >>> install("plots")
    "pip install 'evenkeel[plots]'"
    """
    return f"pip install 'evenkeel[{extra}]'"


def missing(problem: Exception) -> InputError | None:
    """
    What a user reads where a module of an extra is not installed; None where something else is wrong.

    >>> print(missing(ModuleNotFoundError(name="sqlalchemy.orm")))
    sqlalchemy is not installed. Run `pip install 'evenkeel[history]'`.
    """
    name = problem.name if isinstance(problem, ModuleNotFoundError) else None
    module = (name or "").partition(".")[0]
    if module not in EXTRAS:
        return None
    return InputError(f"{module} is not installed.", fix=f"Run `{install(EXTRAS[module])}`.")
