"""An older Airflow beside the installed one: its three packages, and for all else the packages of this environment."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

VERSION = {
    "apache-airflow": "3.3.0",
    "apache-airflow-core": "3.3.0",
    "apache-airflow-task-sdk": "1.3.0",
}


def older_airflow(folder: Path) -> Path:
    """Install it into a folder; where its command `airflow` is. It needs a package index."""
    venv.create(folder, with_pip=False)
    wanted = [f"{name}=={version}" for name, version in VERSION.items()]
    program = str(folder / "bin" / "python")
    options = ("--quiet", "--no-deps", "--disable-pip-version-check")
    pip = [sys.executable, "-m", "pip", "--python", program, "install"]
    subprocess.run([*pip, *options, *wanted], check=True)
    ours = sysconfig.get_path("purelib")
    asked = [program, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    # behind its own packages, with what is installed there as a link
    (own / "zz_ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    return folder / "bin"
