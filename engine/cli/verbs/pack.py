"""`evenkeel admin pack`: the environment of a Spark cluster's workers, as one file."""

from __future__ import annotations

from typing import Annotated

from ..command_end import complain
from ..options import epilog, option

EPILOG = epilog(
    [
        "evenkeel admin pack                                  # evenkeel-environment.tar.gz, once per release",
        "evenkeel admin pack --out /opt/evenkeel.tar.gz       # and EVENKEEL_SPARK_ARCHIVE names it",
        "evenkeel admin pack --python-prefix /usr             # where workers have /usr/bin/python3.11",
    ],
    [0, 2],
    "The archive contains evenkeel, its dependencies on workers, installed packages with custom strategies, and "
    "compiled code. Workers need the same minor version of Python, at the same path as here or below --python-prefix.",
)

FILE = "evenkeel-environment.tar.gz"


def pack(
    out: Annotated[str, option("--out FILE", "The archive (.tar.gz); it is overwritten.")] = FILE,
    more: Annotated[
        list[str] | None, option("--with PACKAGE", "Add an installed package; repeatable.")
    ] = None,
    without: Annotated[
        list[str] | None,
        option("--without PACKAGE", "Leave out a package that your workers have; repeatable."),
    ] = None,
    python_prefix: Annotated[
        str | None,
        option(
            "--python-prefix DIR",
            "The Python prefix of your workers, e.g. /usr for /usr/bin/python3.11. Default: as here.",
        ),
    ] = None,
) -> None:
    """Pack the Python environment for the workers of a Spark cluster."""
    from pathlib import Path

    from ...model.environment import this_environment
    from ...model.errors import InputError
    from .. import compile_kernels, worker_archive

    if not out.endswith((".tar.gz", ".tgz")):
        raise InputError(f"{out} is no name that Spark unpacks.", fix="Let it end in .tar.gz.")
    if python_prefix is not None and not Path(python_prefix).is_absolute():
        raise InputError(f"{python_prefix} is no absolute path.", fix="Begin it with /.")
    worker_archive.content(
        more or (), without or ()
    )  # a package that is missing is refused before the work
    if worker_archive.COMPILER not in (without or ()):
        complain("compiling the loops of large groups, half a minute the first time ...")
        compile_kernels.compile_all()
    held, here = worker_archive.content(more or (), without or ()), this_environment()
    complain(
        f"packing {len(held.packages):,} packages, {held.size / 1e6:,.0f} MB, for Python {here.python} ..."
    )
    worker_archive.write(Path(out), held, python_prefix)
    size = Path(out).stat().st_size / 1e6
    print(f"{out}: {size:,.0f} MB, Python {here.python}, evenkeel {here.version} ({here.source})")
