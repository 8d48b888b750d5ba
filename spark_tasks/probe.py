"""
What a worker tells of itself before any work: runs in the worker's own Python, by `preflight`.

Without evenkeel, or under another Python, `PROBE` still answers; so it is written in a Python of ten years ago.
"""

from __future__ import annotations

import os
import secrets

from evenkeel.engine.adapters.lake.files import Files
from evenkeel.engine.model.text import one_line

MARK = "evenkeel-probe "
"""What the line begins with that holds the answer."""

PROBE = """
import json, os, socket, sys
told = {"host": socket.gethostname(), "folder": os.getcwd(), "python": "%d.%d" % sys.version_info[:2]}
asked = json.loads(sys.argv[1])
if told["python"] == asked["python"]:
    try:
        from evenkeel.engine.model.environment import this_environment
        told["version"], told["source"] = this_environment().version, this_environment().source
        import evenkeel.engine.pipeline
        from evenkeel.spark_tasks import probe
        told["lake"] = probe.tried(asked["lake"], asked["token"])
    except ImportError as problem:
        told["missing"] = str(problem)
print("evenkeel-probe " + json.dumps(told))
"""
"""For `python -c`, with one argument: Python, lake and token as JSON."""


def leave(lake: str, token: str) -> None:
    """
    Write the file that workers shall find; the lake's folder is made if need be.

    Raises:
        LakeError: This process cannot write there.
    """
    files = Files(lake)
    with files.explained("written"):
        files.check_parent()
        files.put(f"{files.root}/_probe-{token}", token.encode())


def tried(lake: str, token: str) -> dict[str, str]:
    """
    Read what the driver left in the lake, and leave something.

    Returns:
        `wrote`, a file's name, or `read_problem` or `write_problem`.
    """
    try:
        files = Files(lake)
        if files.read(f"{files.root}/_probe-{token}") != token.encode():
            return {"read_problem": "another file is there"}
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
    Names of the files of `tried` that have reached the lake; they and that of `leave` are removed.

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
