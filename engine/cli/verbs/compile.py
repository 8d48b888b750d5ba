"""`evenkeel admin compile`: what large groups need compiled, before a scheduled run needs it."""

from __future__ import annotations

from ..options import epilog

EPILOG = epilog(
    [
        "evenkeel admin compile                               # once per installation, half a minute",
        "evenkeel admin compile                               # in an image, before its last USER: all may read it",
    ],
    [0, 2],
    "Without it the first run with much to do takes that half minute; small groups never need it. "
    "`evenkeel admin pack` does it too, and the workers of a cluster get what was compiled.",
)


def compile() -> None:
    """Compile the loops for large groups ahead of the first run."""
    import time

    from ...model.text import several
    from .. import compile_kernels

    began = time.monotonic()
    folder = compile_kernels.compile_and_keep()
    loops = several(len(compile_kernels.kernels()), "loop")
    print(f"{loops} compiled and kept below {folder} ({time.monotonic() - began:.0f} s)")
