"""Kafka's jars, fetched once by the Ivy that pyspark ships, so that nothing has to be installed."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.stage.process import LocalClusterError, checkout_home, find_java

KAFKA_VERSION, OLDER_VERSION, NEWER_VERSION = "4.3.1", "3.9.1", "4.4.0"
JAR_LISTS = {
    KAFKA_VERSION: Path(__file__).with_name("jars.txt"),
    OLDER_VERSION: Path(__file__).with_name("jars-3.9.1.txt"),
    NEWER_VERSION: Path(__file__).with_name("jars-4.4.0.txt"),
}
# An Ivy settings file of the user's own, for a network where a mirror must be asked.
SETTINGS_VARIABLE = "EVENKEEL_IVY_SETTINGS"
FETCH_TIMEOUT_SECONDS = 600

_MARKER = "complete.json"
# The public repository is Ivy's default. Poms are left unread: the list of jars is closed.
_SETTINGS = """<ivysettings>
  <settings defaultResolver="public"/>
  <resolvers>
    <ibiblio name="public" m2compatible="true" usepoms="false" useMavenMetadata="false"/>
  </resolvers>
</ivysettings>
"""


def resolve_jars(home: Path | None = None, version: str = KAFKA_VERSION) -> Path:
    """The folder ``<home>/kafka/jars`` with every jar of ``jars.txt``, fetched if need be; another Kafka's beside.

    ``home`` is ``.evenkeel`` of this checkout by default, wherever EVENKEEL_HOME points: all runs
    share the jars.
    A marker file with each jar's size is written last, so an interrupted or damaged folder is made
    anew (Ivy's cache keeps what it already had). Several processes may call this at once.
    Raises LocalClusterError with Ivy's last lines when the jars cannot be had.
    """
    kafka = (home or checkout_home()) / "kafka"
    jars = kafka / ("jars" if version == KAFKA_VERSION else f"jars-{version}")
    if _is_complete(jars, version):
        return jars
    kafka.mkdir(parents=True, exist_ok=True)
    with _lock(kafka / "jars.lock"):
        if not _is_complete(jars, version):
            _fetch(kafka, jars, version)
    return jars


def classpath(jars: Path) -> str:
    """The class path of all jars, sorted: shared class data demands the same order every time."""
    return os.pathsep.join(str(path) for path in sorted(jars.glob("*.jar")))


def wanted(version: str = KAFKA_VERSION) -> list[tuple[str, str, str]]:
    """(group, artifact, version) of each jar in a version's list."""
    text = JAR_LISTS[version].read_text()
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return [(group, artifact, version) for group, artifact, version in lines]


def _is_complete(jars: Path, version: str) -> bool:
    try:
        marker = json.loads((jars / _MARKER).read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    if marker["wanted"] != [":".join(jar) for jar in wanted(version)]:
        return False
    sizes = {path.name: path.stat().st_size for path in jars.glob("*.jar")}
    return bool(sizes == marker["sizes"])


def _fetch(kafka: Path, jars: Path, version: str) -> None:
    shutil.rmtree(jars, ignore_errors=True)
    partial = kafka / "jars.partial"
    cache = kafka / "ivy-cache"
    failure = _run_ivy(kafka, cache, partial, version)
    if failure and cache.exists():
        # A cache damaged by an earlier interruption fails for ever: once more without it.
        shutil.rmtree(cache)
        failure = _run_ivy(kafka, cache, partial, version)
    if failure:
        raise LocalClusterError(
            f"could not fetch the jars of Kafka {version} (is the network there? a mirror can be"
            f" named by an Ivy settings file in {SETTINGS_VARIABLE}); Ivy's last lines:\n{failure}"
        )
    sizes = {path.name: path.stat().st_size for path in partial.glob("*.jar")}
    marker = {"wanted": [":".join(jar) for jar in wanted(version)], "sizes": sizes}
    (partial / _MARKER).write_text(json.dumps(marker, indent=1))
    partial.rename(jars)
    shutil.rmtree(cache)


def _run_ivy(kafka: Path, cache: Path, target: Path, version: str) -> str:
    """Empty if every jar is in ``target``, else the last lines that Ivy wrote."""
    shutil.rmtree(target, ignore_errors=True)
    java, _ = find_java()
    settings = kafka / "ivysettings.xml"
    settings.write_text(_SETTINGS)
    module = kafka / "ivy.xml"
    module.write_text(_module_text(version))
    argv = [str(java), "-XX:TieredStopAtLevel=1", "-cp", str(_ivy_jar()), "org.apache.ivy.Main"]
    argv += ["-settings", os.environ.get(SETTINGS_VARIABLE, str(settings)), "-ivy", str(module)]
    argv += ["-cache", str(cache), "-confs", "default"]
    argv += ["-retrieve", str(target / "[artifact]-[revision](-[classifier]).[ext]")]
    try:
        answer = subprocess.run(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=FETCH_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"(nothing: it was ended after {FETCH_TIMEOUT_SECONDS} s)"
    if answer.returncode == 0 and len(list(target.glob("*.jar"))) == len(wanted(version)):
        return ""
    # Without the progress dots of its downloads.
    lines = [line[:200] for line in answer.stdout.splitlines() if not line.startswith("..")]
    return "\n".join(lines[-12:])


def _module_text(version: str) -> str:
    dependencies = "\n".join(
        f'    <dependency org="{group}" name="{artifact}" rev="{revision}" transitive="false"/>'
        for group, artifact, revision in wanted(version)
    )
    return f"""<ivy-module version="2.0">
  <info organisation="evenkeel" module="local-cluster"/>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


def _ivy_jar() -> Path:
    # Found without importing pyspark, which is slow.
    spec = importlib.util.find_spec("pyspark")
    places = list(spec.submodule_search_locations or []) if spec else []
    found = [jar for place in places for jar in (Path(place) / "jars").glob("ivy-*.jar")]
    if not found:
        raise LocalClusterError("pyspark, whose Ivy fetches Kafka's jars, is not installed")
    return found[0]


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    print(resolve_jars())
