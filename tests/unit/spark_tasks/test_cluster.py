"""What a cluster gets of us, from environment variables and Spark's defaults file alone."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from evenkeel.engine.errors import ConfigError
from evenkeel.spark_tasks import cluster


@pytest.fixture
def listening():
    """A port of this machine where somebody answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


@pytest.fixture
def silent():
    """A port of this machine where nobody does."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return server.getsockname()[1]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["spark://{}", "k8s://https://{}", "k8s://{}/path"])
def test_a_master_that_listens_is_there(listening, form):
    """Spark's and Kubernetes's forms of an address are understood."""
    cluster.check_master(form.format(f"127.0.0.1:{listening}"))


@pytest.mark.slow
def test_one_of_several_masters_suffices(listening, silent):
    """Masters that wait for the first to fail are listed with commas."""
    cluster.check_master(f"spark://127.0.0.1:{silent},127.0.0.1:{listening}")


@pytest.mark.slow
def test_a_silent_master_is_named_with_the_reason(silent):
    """The error holds the address, what the system said, and the variable."""
    with pytest.raises(ConfigError, match=rf"{silent}: Connection refused.*EVENKEEL_SPARK_MASTER"):
        cluster.check_master(f"spark://127.0.0.1:{silent}")


@pytest.mark.parametrize("master", ["host:7077", "mesos://host:5050", ""])
def test_what_is_no_master_is_refused_with_the_forms(master):
    """A value that Spark would only fail on later is refused at once."""
    with pytest.raises(ConfigError, match=r"no Spark master.*spark://host:7077, yarn"):
        cluster.check_master(master)


def test_yarn_needs_its_configuration(monkeypatch):
    """Where YARN is, only its configuration tells."""
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="HADOOP_CONF_DIR"):
        cluster.check_master("yarn")
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")
    cluster.check_master("yarn")


def test_a_local_archive_is_handed_out_by_its_absolute_path(tmp_path, monkeypatch):
    """Spark takes a path without a scheme for one of its default file system, which may be another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "packed.tar.gz").touch()
    options = cluster.archive_options({cluster.ARCHIVE: "packed.tar.gz"})
    assert {"spark.archives": f"file://{tmp_path}/packed.tar.gz#environment"} == options


def test_an_archive_elsewhere_is_left_to_spark():
    """A URI goes through as it is; without an archive there is no option."""
    options = cluster.archive_options({cluster.ARCHIVE: "hdfs://n/e.tar.gz"})
    assert {"spark.archives": "hdfs://n/e.tar.gz#environment"} == options
    assert {} == cluster.archive_options({})


def test_an_archive_that_is_not_there_is_refused():
    """The error says how to make one."""
    with pytest.raises(ConfigError, match="evenkeel pack"):
        cluster.archive_options({cluster.ARCHIVE: "/no/such.tar.gz"})


def test_the_defaults_file_is_read_as_spark_reads_it(tmp_path):
    """Blanks, `=` and `:` part key and value; comments and a missing file say nothing."""
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.a no\n\nspark.b  1 2\n spark.c=3\nspark.d : x#y\n"
    )
    expected = {"spark.b": "1 2", "spark.c": "3", "spark.d": "x#y"}
    assert expected == cluster.defaults({"SPARK_CONF_DIR": str(tmp_path)})
    assert {} == cluster.defaults({"SPARK_CONF_DIR": str(tmp_path / "none")})
    assert {} == cluster.defaults({})


def test_the_archive_beats_every_other_interpreter():
    """An archive brings its own; else Spark's configuration is asked, then the environment."""
    variables = {"PYSPARK_PYTHON": "/usr/bin/python3"}
    known = {"spark.pyspark.python": "/opt/python"}
    named = cluster.python_of_workers
    assert "./environment/bin/python" == named({**variables, cluster.ARCHIVE: "x"}, known)
    assert "/opt/python" == named(variables, known)
    assert "/usr/bin/python3" == named(variables, {})
    assert named({}, {}) is None


def test_only_what_reaches_s3_travels_with_a_task():
    """Credentials and addresses of S3 that are set here, and nothing else of the environment."""
    given = {"AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": "", "EVENKEEL_DATABASE_URL": "hush"}
    assert {"AWS_SECRET_ACCESS_KEY": "hush"} == cluster.for_workers(given)
    assert {} == cluster.for_workers(given, credentials=False)
