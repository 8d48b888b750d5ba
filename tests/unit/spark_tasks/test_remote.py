"""What is made of the URL of a Spark Connect server, and what is said of it, without any server."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
from contextlib import closing

import pytest
from grpc import StatusCode
from pyspark import cloudpickle
from pyspark.errors.exceptions.connect import PythonException, SparkConnectGrpcException

from evenkeel.engine.errors import ConfigError
from evenkeel.spark_tasks import remote
from evenkeel.spark_tasks.remote import MASTER, REMOTE
from evenkeel.spark_tasks.session import session


def named(url, **more):
    """The server of this URL."""
    return remote.server({REMOTE: url, **more})


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
    assert remote.server({MASTER: "local[2]", REMOTE: ""}) is None


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
    with pytest.raises(ConfigError, match=f"{REMOTE} is no URL .*sc://host:port") as refused:
        named(url)
    assert "hush" not in repr(refused.value) + str(refused.value)


def test_a_master_beside_a_server_is_refused():
    """Both are named, in one line."""
    with pytest.raises(ConfigError, match=f"^{REMOTE} and {MASTER} are both set.*Unset one"):
        named("sc://host", **{MASTER: "local[*]"})


@pytest.mark.slow
def test_a_silent_server_is_named_at_once(monkeypatch):
    """The line has its address, what the system said and the variable; no library of Spark's repeats the call."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
    monkeypatch.delenv(MASTER, raising=False)
    monkeypatch.setenv(REMOTE, f"sc://127.0.0.1:{port}/;token=hush")
    with (
        pytest.raises(ConfigError, match=rf"at sc://127.0.0.1:{port} \(Connection ref.*{REMOTE}"),
        session("x", "lake"),
    ):
        pass


@pytest.mark.parametrize(
    ("problem", "lost"),
    [
        (SparkConnectGrpcException("gone", grpc_status_code=StatusCode.UNAVAILABLE), True),
        (SparkConnectGrpcException("x", errorClass="INVALID_HANDLE.SESSION_NOT_FOUND"), True),
        (PythonException("x", errorClass="PYTHON_EXCEPTION"), False),
        (SparkConnectGrpcException("x", grpc_status_code=StatusCode.INTERNAL), False),
    ],
)
def test_a_lost_server_is_not_a_failed_step(problem, lost):
    """No answer, and a session that a new server does not know; not what a step does wrong."""
    assert remote.is_lost(problem) is lost


def test_of_a_call_that_nobody_answered_only_the_details_are_said():
    """The library's own text has many lines."""
    text = (
        '<RPC that terminated with:\n\tstatus = UNAVAILABLE\n\tdetails = "nobody is there"\n\tmore>'
    )
    assert "nobody is there" == remote.cause(SparkConnectGrpcException(text))
    assert "a first line" == remote.cause(SparkConnectGrpcException("\n  a first line.\n at x"))


def test_workers_need_nothing_of_ours_to_be_asked():
    """What asks them travels whole: a Python that cannot import evenkeel reads and runs it."""
    ask = cloudpickle.dumps(remote.asking("print(1)", "", {}))
    code = (
        "import sys; sys.modules['evenkeel'] = None\n"
        f"import pickle; print(pickle.loads({ask!r})(iter([])).__next__()['said'].to_pylist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "['1\\n']" == done.stdout.strip(), done.stderr
    assert pickle.loads(ask)
