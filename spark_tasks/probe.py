"""
The probe of a worker for `preflight`, which runs in the worker's own Python.

`PROBE` also runs without evenkeel and with other versions of Python, so it uses old syntax.
"""

from __future__ import annotations

import os
import secrets

from evenkeel.engine.adapters.lake.files import Files
from evenkeel.engine.model.text import one_line

MARK = "evenkeel-probe "
"""Prefix of the line with the answer."""

PROBE = """
import json, os, socket, sys
answer = {"host": socket.gethostname(), "folder": os.getcwd(), "python": "%d.%d" % sys.version_info[:2]}
asked = json.loads(sys.argv[1])
if answer["python"] == asked["python"]:
    try:
        from evenkeel.engine.model.environment import this_environment
        answer["version"], answer["source"] = this_environment().version, this_environment().source
        import evenkeel.engine.pipeline
        from evenkeel.spark_tasks import probe
        answer["lake"] = probe.tried(asked["lake"], asked["token"])
    except ImportError as problem:
        answer["missing"] = str(problem)
print("evenkeel-probe " + json.dumps(answer))
"""
"""Code for `python -c` with one argument: Python version, lake and token as JSON."""


def leave(lake: str, token: str) -> None:
    """
    Write a file for the workers to read; creates the folder of the lake if needed.

    Raises:
        LakeError: This process cannot write there.
    """
    files = Files(lake)
    with files.explained("written"):
        files.check_parent()
        files.put(f"{files.root}/_probe-{token}", token.encode())


def tried(lake: str, token: str) -> dict[str, str]:
    """
    Read the file of the driver in the lake, and write one.

    Returns:
        `wrote` with the name of the file, or `read_problem` or `write_problem`.
    """
    try:
        files = Files(lake)
        if files.read(f"{files.root}/_probe-{token}") != token.encode():
            return {"read_problem": "the file has another content"}
    except Exception as problem:  # noqa: BLE001 whatever is wrong is the answer
        return {"read_problem": _cause(problem)}
    name = f"_probe-{token}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        files.put(f"{files.root}/{name}", token.encode())
    except Exception as problem:  # noqa: BLE001 whatever is wrong is the answer
        return {"write_problem": _cause(problem)}
    return {"wrote": name}


def collect(lake: str, token: str) -> set[str]:
    """
    Names of the files of `tried` in the lake; deletes them and that of `leave`.

    Raises:
        LakeError: This process cannot read there.
    """
    files = Files(lake)
    with files.explained("read"):
        names = {n for n in files.names(files.root) if n.startswith(f"_probe-{token}")}
        files.forget([f"{files.root}/{name}" for name in names])
    return names


def _cause(problem: Exception) -> str:
    return one_line(getattr(problem, "strerror", None) or problem)
