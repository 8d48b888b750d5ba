"""`evenkeel admin compile`: what large groups need compiled, before a scheduled run needs it."""

from __future__ import annotations

from ..options import epilog

EPILOG = epilog(
    [
        "evenkeel admin compile                               # once per installation, a minute",
        "evenkeel admin compile                               # in an image, before its last USER",
    ],
    [0, 2],
    "Without it, the first run over large groups takes half a minute longer. Small groups never need it. `evenkeel "
    "admin pack` compiles too, and the workers of a cluster get the compiled code. It also archives the Java classes "
    "of Spark, for a faster start.",
)


def compile() -> None:
    """Compile the loops for large groups ahead of the first run."""
    import shutil
    import subprocess
    import sys
    import time
    from importlib.util import find_spec

    from ...model.text import several
    from .. import compile_kernels

    began = time.monotonic()
    folder = compile_kernels.compile_and_keep()
    loops = several(len(compile_kernels.kernels()), "loop")
    print(f"{loops} compiled and kept below {folder} ({time.monotonic() - began:.0f} s)")
    if find_spec("pyspark") and shutil.which("java"):
        began = time.monotonic()
        command = [sys.executable, "-m", "evenkeel.spark_tasks.shared_classes"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        made = "are archived" if done.returncode == 0 else "could not be archived"
        print(f"the Java classes of Spark {made} ({time.monotonic() - began:.0f} s)")
