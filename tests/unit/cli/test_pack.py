"""`evenkeel admin pack` and `compile`: what workers need, in one archive, and after it nothing is compiled any more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath

import pytest
from typer.testing import CliRunner

from evenkeel.engine.assignors.balanced.relief import best_swap
from evenkeel.engine.assignors.kit.kernels import Kernel
from evenkeel.engine.cli import app, worker_archive
from evenkeel.engine.model.environment import source_files, source_folder, this_environment

pytestmark = pytest.mark.slow

SITE = f"lib/python{this_environment().python}/site-packages"
HEAVY = ("numba", "llvmlite", "pandas", "pyarrow", "numpy", "scipy")
SMALL = [word for name in HEAVY for word in ("--without", name)]
"""What leaves out the large packages, and so what compiles."""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The archive without the large packages, unpacked, and moved elsewhere."""
    home = tmp_path_factory.mktemp("packed")
    result = CliRunner().invoke(app, ["admin", "pack", "--out", str(home / "small.tar.gz"), *SMALL])
    assert result.exit_code == 0, result.output
    with tarfile.open(home / "small.tar.gz") as made:
        # a link to an interpreter outside is what an environment is made of
        made.extractall(home / "there", filter="tar")
    return (home / "there").rename(home / "else where")


def test_an_unpacked_archive_runs_our_code_as_it_is_here(packed):
    """Its interpreter sees the same evenkeel from its own folder, wherever it was unpacked."""
    code = """
import json, evenkeel.engine.config, pydantic
from evenkeel.engine.model.environment import this_environment
print(json.dumps([evenkeel.engine.__file__, pydantic.__file__, this_environment().to_json()]))
"""
    done = subprocess.run(
        [str(packed / "bin" / "python"), "-c", code],
        env={"PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    ours, theirs, environment = json.loads(done.stdout)
    assert ours.startswith(f"{packed}/{SITE}/evenkeel/")
    assert theirs.startswith(f"{packed}/{SITE}/pydantic/")
    assert this_environment().to_json() == environment


def test_every_module_is_in_it_and_nothing_leads_out_of_it(packed):
    """All of our source is inside as files, packages with their names and versions; only the interpreter is a link."""
    root = source_folder()
    ours = {path.relative_to(root) for path in source_files(root)}
    inside = packed / SITE / "evenkeel"
    assert ours <= {path.relative_to(inside) for path in inside.rglob("*") if path.is_file()}
    found = {each.name for each in distributions(path=[str(packed / SITE)])}
    assert {"evenkeel", "pydantic"} <= found
    assert not {"apache-airflow", "pyspark", *HEAVY} & found
    links = {path.name: path.readlink() for path in packed.rglob("*") if path.is_symlink()}
    python = Path(sys._base_executable).resolve()
    assert links[f"python{this_environment().python}"].resolve() == python
    assert [link for link in links.values() if link.is_absolute()] == [
        links[f"python{this_environment().python}"]
    ]


def test_workers_may_have_their_python_elsewhere(run, tmp_path):
    """The interpreter of the archive is the one below the prefix that is named."""
    options = ("--out", "x.tgz", "--python-prefix", "/opt/py", *SMALL)
    assert run("admin", "pack", *options).exit_code == 0
    version = this_environment().python
    with tarfile.open(tmp_path / "x.tgz") as made:
        assert made.getmember(f"bin/python{version}").linkname == f"/opt/py/bin/python{version}"
        assert b"home = /opt/py/bin" in made.extractfile("pyvenv.cfg").read()


def test_the_whole_environment_is_what_steps_import():
    """Requirements of requirements are in it, large packages without their own tests."""
    held = worker_archive.content()
    names = {each.split()[0] for each in held.packages}
    assert {
        "evenkeel",
        "numpy",
        "pyarrow",
        "numba",
        "llvmlite",
        "pydantic_core",
    } <= names
    assert not {"apache-airflow", "pyspark", "great-expectations", "kafka-python"} & names
    inside = {str(name) for name, _ in held.files}
    assert "pyarrow/parquet/core.py" in inside
    assert not [name for name in inside if name.startswith(("numpy/tests/", "pyarrow/include/"))]


def test_compiled_forms_are_taken_along_with_what_reads_them(monkeypatch, tmp_path):
    """Wherever they are kept here, in the archive they lie beside their source; without Numba they are left out."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = next(best_swap.folders())
    folder.mkdir(parents=True)
    for end in (".nbi", ".1.nbc"):
        (folder / f"{best_swap.form}{end}").touch()

    kept = "evenkeel/engine/assignors/balanced/__pycache__/relief.best_swap-"
    inside = [path for name, path in worker_archive.content().files if str(name).startswith(kept)]
    assert sorted(folder.iterdir()) == inside
    inside = dict(worker_archive.content(without=["numba"]).files)
    assert not [name for name in inside if name.suffix in (".nbi", ".nbc")]


def test_another_package_is_added_with_what_it_requires():
    """`--with` takes any installed package."""
    assert "pytest" in {each.split()[0] for each in worker_archive.content(["pytest"]).packages}


def test_strategies_of_ones_own_are_taken_along(tmp_path, monkeypatch):
    """An installed package with an entry point for strategies is in it, also an editable one, with its modules."""
    about = tmp_path / "site" / "ours_too-1.0.dist-info"
    package = tmp_path / "checkout" / "our_strategies"
    about.mkdir(parents=True)
    package.mkdir(parents=True)
    (package / "widest.py").write_text("class Widest: ...\n")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ours-too\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[evenkeel.assignors]\nw = our_strategies.widest:Widest\n"
    )
    (about / "direct_url.json").write_text('{"url": "file:///x", "dir_info": {"editable": true}}')
    listed = ["METADATA", "entry_points.txt", "direct_url.json"]
    (about / "RECORD").write_text("".join(f"{about.name}/{name},,\n" for name in listed))
    for folder in (about.parent, package.parent):
        monkeypatch.syspath_prepend(str(folder))
    held = worker_archive.content()
    assert "ours-too 1.0" in held.packages
    inside = dict(held.files)
    assert package / "widest.py" == inside[PurePosixPath("our_strategies/widest.py")]
    kept = {name.name for name in inside if name.parts[0] == about.name}
    assert {"METADATA", "entry_points.txt"} == kept


def test_an_archive_that_cannot_be_written_is_one_line(run):
    """With why."""
    result = run("admin", "pack", *SMALL, "--out", "no/such/x.tar.gz")
    assert 2 == result.exit_code
    assert "evenkeel: no/such/x.tar.gz cannot be written: No such file" in result.output


LARGE = """
import json
from random import Random
from evenkeel.engine.assignors.interface import build_spec
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.cli import compile_kernels
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.model.arrays import Column
from evenkeel.engine.streams.place import place
from tests.helpers.streams import Shape, sketch

random = Random(1)
topics = [f"t{i}" for i in range(6)]
group = build_spec(
    members=[f"m{i}" for i in range(50)],
    instance_ids=[None] * 50,
    member_racks=[random.choice("abc") for _ in range(50)],
    subscriptions=[random.sample(topics, 4) for _ in range(50)],
    topics=topics,
    partition_counts=[100] * 6,
    replica_racks=[random.sample("abc", 2) for _ in range(600)],
    owner=[random.randrange(50) for _ in range(600)],
    lag=Column.of([int(random.lognormvariate(8, 2)) for _ in range(600)]),
)
with held_to(compiled=True):
    for name in ("balanced", "uniform"):
        ASSIGNORS[name].assign(group)
    for seed in range(20):
        case = sketch(Random(seed), Shape(most_tasks=60, most_clients=30))
        place(case.app, case.config)
used = [vars(each)["fast"].stats for each in compile_kernels.kernels() if "fast" in vars(each)]
loaded, made = (sum(sum(getattr(s, of).values()) for s in used) for of in ("cache_hits", "cache_misses"))
print(json.dumps([loaded > 5, made]))
"""


@pytest.mark.nightly
def test_after_it_large_groups_and_applications_load_all_that_they_need(tmp_path):
    """
    Nothing is left for a scheduled run to compile; the last line says where everything is kept.

    In a copy of which nothing is kept: what other tests have compiled would hide what this command leaves out.
    """

    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source_folder(), tmp_path / "evenkeel", ignore=ignored)

    def python(*argv):
        done = subprocess.run(
            [sys.executable, *argv],
            env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    command = shutil.which("evenkeel", path=Path(sys.executable).parent)
    assert f" loops compiled and kept below {tmp_path}" in python(command, "admin", "compile")
    assert json.loads(python("-c", LARGE)) == [True, 0]


def test_where_nothing_can_be_kept_it_says_so(run, monkeypatch):
    """One line with the way out."""
    monkeypatch.setattr("evenkeel.engine.cli.compile_kernels.compile_all", lambda: None)
    monkeypatch.setattr(Kernel, "folders", lambda _: iter(()))
    result = run("admin", "compile")
    assert result.exit_code == 2
    assert "let NUMBA_CACHE_DIR name a folder." in result.output
