"""
A server that speaks S3 (moto's), on loopback, for lakes that are no folder.

It lives in an environment of its own under `.evenkeel/s3`, made once from what `make lock` makes of `s3-server.txt`.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyarrow import fs

from tests.stage.process import (
    LocalClusterError,
    checkout_home,
    free_ports,
    port_is_free,
    spawn,
    stop,
    wait_until,
)

PACKAGES = Path(__file__).parents[2] / ".ci" / "locks" / "s3-server.txt"
KEY, SECRET = "evenkeel-test-key", "evenkeel-test-hush"
INSTALL_SECONDS = 600


@contextmanager
def s3_server(folder: Path, bucket: str = "evenkeel-test-lake") -> Iterator[dict[str, str]]:
    """
    A server with one empty bucket, all in memory.

    Args:
        folder: Where its log goes.
        bucket: The bucket's name.

    Yields:
        The environment variables that name it, and `BUCKET`, which is none of them.
    """
    python, (port,) = _installed(), free_ports(1)
    words = [str(python), "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = spawn(words, {}, folder / "s3.log", "S3 server")
    try:
        wait_until(lambda: not port_is_free(port), 120, "the S3 server", process=server)
        address = f"127.0.0.1:{port}"
        store = fs.S3FileSystem(
            access_key=KEY,
            secret_key=SECRET,
            endpoint_override=address,
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
            # its first answer takes what loading its parts takes
            connect_timeout=120,
            request_timeout=120,
        )
        store.create_dir(bucket)
        with store.open_output_stream(f"{bucket}/first") as first:
            first.write(b"x")
        store.delete_file(f"{bucket}/first")
        yield {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://{address}",
            "BUCKET": bucket,
        }
    finally:
        stop(server)


def _installed() -> Path:
    """The server's interpreter, with its packages; installed if need be."""
    home = checkout_home() / "s3"
    python, marker = home / "bin" / "python", home / "installed.txt"
    home.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not (marker.exists() and marker.read_text() == PACKAGES.read_text()):
            shutil.rmtree(home)
            _run([sys.executable, "-m", "venv", str(home)])
            locked = ("--quiet", "--no-deps", "--require-hashes", "-r", str(PACKAGES))
            _run([str(python), "-m", "pip", "install", *locked])
            marker.write_text(PACKAGES.read_text())
    return python


def _run(words: list[str]) -> None:
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
    )
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-5:])
        raise LocalClusterError(f"the S3 server cannot be installed: {' '.join(words)}\n{last}")
