"""Where Spark runs and what it is given, from environment variables and Spark's defaults file alone."""

from __future__ import annotations

import pytest

from evenkeel.engine.model.errors import ConfigError
from evenkeel.spark_tasks.spark_settings import ARCHIVE, MASTER, REMOTE, Place


def named(url, **more):
    """The server of this URL."""
    return Place.named({REMOTE: url, **more}).server


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("sc://host", "host", 15002),
        ("sc://host:15003", "host", 15003),
        ("sc://host:1/;use_ssl=true;token=a%3D", "host", 1),
        ("sc://[::1]:7/", "[::1]", 7),
    ],
)
def test_a_url_names_host_and_port(url, host, port):
    """The port is Spark's where none is given; parameters are left to Spark."""
    found = named(url)
    assert (url, host, port) == (found.url, found.host, found.port)


def test_without_a_url_there_is_no_server():
    """Then Spark is started as before."""
    assert Place.named({MASTER: "local[2]", REMOTE: ""}).server is None
    assert Place.named({MASTER: ""}).master == "local[*]"


def test_a_server_never_shows_its_token():
    """Whatever prints it prints host and port."""
    server = named("sc://host:1/;token=hush")
    assert "sc://host:1" == str(server)
    assert "hush" not in repr(server) + f"{server}" + repr([server])


@pytest.mark.parametrize(
    "url",
    [
        "spark://hush:1",
        "host:15002",
        "sc://",
        "sc://host:70000/;token=hush",
        "sc://host/path/hush",
        "sc://user:hush@host",
        "sc://host:1;token=hush",
        "sc://host:1/;hush",
        "sc://host:1/;token=hush=",
        "sc://host:1/?token=hush",
    ],
)
def test_what_is_no_url_is_refused_without_saying_it(url):
    """A part of it may be a secret that stands where none belongs."""
    with pytest.raises(ConfigError, match=f"{REMOTE} is not a URL .*sc://host:port") as refused:
        named(url)
    assert "hush" not in repr(refused.value) + str(refused.value)


def test_a_master_beside_a_server_is_refused():
    """Both are named, in one line."""
    with pytest.raises(ConfigError, match=f"^{REMOTE} and {MASTER} are both set.*Unset one"):
        named("sc://host", **{MASTER: "local[*]"})


def test_a_local_archive_is_handed_out_by_its_absolute_path(tmp_path, monkeypatch):
    """Spark takes a path without a scheme for one of its default file system, which may be another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "packed.tar.gz").touch()
    options = Place.named({ARCHIVE: "packed.tar.gz"}).archive_options
    assert {"spark.archives": f"file://{tmp_path}/packed.tar.gz#environment"} == options


def test_an_archive_elsewhere_is_left_to_spark():
    """A URI goes through as it is; without an archive there is no option."""
    options = Place.named({ARCHIVE: "hdfs://n/e.tar.gz"}).archive_options
    assert {"spark.archives": "hdfs://n/e.tar.gz#environment"} == options
    assert {} == Place.named({}).archive_options


def test_the_defaults_file_is_read_as_spark_reads_it(tmp_path):
    """Blanks, `=` and `:` part key and value; comments and a missing file say nothing."""
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.a no\n\nspark.b  1 2\n spark.c=3\nspark.d : x#y\n"
    )
    expected = {"spark.b": "1 2", "spark.c": "3", "spark.d": "x#y"}
    assert expected == Place.named({"SPARK_CONF_DIR": str(tmp_path)}).defaults
    assert {} == Place.named({"SPARK_CONF_DIR": str(tmp_path / "none")}).defaults
    assert {} == Place.named({}).defaults


def test_the_archive_beats_every_other_interpreter(tmp_path):
    """An archive brings its own; else Spark's configuration is asked, then the environment."""
    variables = {"PYSPARK_PYTHON": "/usr/bin/python3", "SPARK_CONF_DIR": str(tmp_path)}
    assert Place.named(variables).python == "/usr/bin/python3"
    (tmp_path / "spark-defaults.conf").write_text("spark.pyspark.python /opt/python")
    assert Place.named(variables).python == "/opt/python"
    assert Place.named({**variables, ARCHIVE: "x"}).python == "./environment/bin/python"
    assert Place.named({}).python is None


def test_only_what_reaches_s3_travels_with_a_task():
    """Credentials and addresses of S3 that are set here, and nothing else; to a server no credentials."""
    given = {"AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": "", "EVENKEEL_DATABASE_URL": "hush"}
    assert Place.named(given).for_workers == {"AWS_SECRET_ACCESS_KEY": "hush"}
    given |= {"AWS_ENDPOINT_URL": "http://s3", REMOTE: "sc://host"}
    assert Place.named(given).for_workers == {"AWS_ENDPOINT_URL": "http://s3"}


@pytest.mark.parametrize(
    ("variables", "given"),
    [
        ({MASTER: "spark://host:7077"}, "1g"),
        ({MASTER: "local[2]", "PYSPARK_SUBMIT_ARGS": "--driver-memory 3g pyspark-shell"}, "3g"),
        ({"PYSPARK_SUBMIT_ARGS": "--conf spark.driver.memory=3g pyspark-shell"}, "3g"),
        ({REMOTE: "sc://host"}, None),
    ],
)
def test_what_java_is_given_is_known(variables, given):
    """What the user says, or Spark's own; of a server it is not ours."""
    assert Place.named(variables).memory == given


def test_three_places_are_told_apart():
    """This machine, a cluster, a server."""
    places = [{}, {MASTER: "yarn"}, {REMOTE: "sc://host"}]
    kinds = [(each.is_local, each.is_cluster) for each in map(Place.named, places)]
    assert kinds == [(True, False), (False, True), (False, False)]
