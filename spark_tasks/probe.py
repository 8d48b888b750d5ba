"""
What a worker tells of itself before any work: runs in the worker's own Python, by `preflight`.

Without evenkeel, or under another Python, `PROBE` still answers; so it is written in a Python of ten years ago.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from pyarrow import fs

MARK = "evenkeel-probe "
"""What the line begins with that holds the answer."""

PROBE = """
import json, os, socket, sys
told = {"host": socket.gethostname(), "folder": os.getcwd(), "python": "%d.%d" % sys.version_info[:2]}
asked = json.loads(sys.argv[1])
if told["python"] == asked["python"]:
    try:
        from evenkeel.engine.environment import this_environment
        told["version"], told["source"] = this_environment().version, this_environment().source
        import evenkeel.engine.steps
        from evenkeel.spark_tasks import probe
        told["lake"] = probe.tried(asked["lake"], asked["token"])
    except ImportError as problem:
        told["missing"] = str(problem)
print("evenkeel-probe " + json.dumps(told))
"""
"""For `python -c`, with one argument: Python, lake and token as JSON."""


def leave(lake: str, token: str) -> None:
    """Write the file that workers shall find; the lake's folder is made if need be."""
    files, root = _opened(lake)
    files.create_dir(root, recursive=True)
    _write(files, f"{root}/_probe-{token}", token)


def tried(lake: str, token: str) -> dict[str, str]:
    """
    Read what the driver left in the lake, and leave something.

    Returns:
        `wrote`, a file's name, or `read_problem` or `write_problem`.
    """
    try:
        files, root = _opened(lake)
        with files.open_input_stream(f"{root}/_probe-{token}") as stream:
            if stream.read() != token.encode():
                return {"read_problem": "another file is there"}
    except Exception as problem:  # noqa: BLE001 whatever is wrong is the answer
        return {"read_problem": _said(problem)}
    name = f"_probe-{token}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        _write(files, f"{root}/{name}", token)
    except Exception as problem:  # noqa: BLE001 whatever is wrong is the answer
        return {"write_problem": _said(problem)}
    return {"wrote": name}


def collect(lake: str, token: str) -> set[str]:
    """Names of the files of `tried` that have reached the lake; they and that of `leave` are removed."""
    files, root = _opened(lake)
    found = files.get_file_info(fs.FileSelector(root, allow_not_found=True))
    names = {one.base_name for one in found if one.base_name.startswith(f"_probe-{token}")}
    for name in names:
        files.delete_file(f"{root}/{name}")
    return names


def _opened(lake: str) -> tuple[fs.FileSystem, str]:
    if "://" not in lake:
        return fs.LocalFileSystem(), str(Path(lake).absolute())
    files, root = fs.FileSystem.from_uri(lake.replace("s3a://", "s3://", 1))
    return files, root.rstrip("/")


def _write(files: fs.FileSystem, path: str, text: str) -> None:
    with files.open_output_stream(path) as stream:
        stream.write(text.encode())


def _said(problem: Exception) -> str:
    return " ".join((getattr(problem, "strerror", None) or str(problem)).split())
