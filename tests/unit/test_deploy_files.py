"""Images, compose file and Helm chart: they agree, and what they name exists; helm is asked where it is installed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from evenkeel.engine.cli import app
from evenkeel.engine.config import Settings, load
from tests.helpers.tools import needs, tool
from tests.stage.kafka.jars import KAFKA_VERSION

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
CHART = DEPLOY / "chart"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
OURS = [each for each in SERVICES.values() if "build" in each]
VALUES = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
HELM = tool("helm")
USER = "10001"
SERVE = get_command(app).get_command(None, "serve")
PORT = int(SERVE.make_context("serve", []).params["listen"].rpartition(":")[2])


def value(path: str) -> Any:
    """What values.yaml has under a dotted path."""
    return reduce(getitem, path.split("."), VALUES)


def skeleton(template: Path) -> dict[str, Any]:
    """A template without its blocks, with plain values filled in."""
    text = re.sub(r"(?m)^.*{{-.*$", "", template.read_text("utf-8"))
    text = re.sub(r"{{ \.Values\.([\w.]+)( \| int)? }}", lambda m: str(value(m[1])), text)
    return dict(yaml.safe_load(re.sub(r"{{.*?}}", "x", text)))


POD = skeleton(CHART / "templates" / "deployment.yaml")["spec"]["template"]["spec"]
[CONTAINER] = POD["containers"]


def stages() -> dict[str, str]:
    """The stages of the Dockerfile by name."""
    parts = re.split(r"^FROM \S+ AS (\S+)\n", DOCKERFILE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("arguments", [SERVICES["evenkeel"]["command"], CONTAINER["args"]])
def test_serve_is_called_as_it_can_be(arguments):
    """On the port of its default, from outside."""
    assert arguments[0] == "serve"
    context = SERVE.make_context("serve", [str(each) for each in arguments[1:]])
    assert f"0.0.0.0:{PORT}" == context.params["listen"]


def test_ports_agree():
    """Of image, compose file, health check, pod and Service."""
    served = SERVICES["evenkeel"]
    assert f"EXPOSE {PORT}\n" in stages()["core"]
    assert served["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert f":{PORT}/healthz" in served["healthcheck"]["test"][-1]
    assert VALUES["port"] == PORT == CONTAINER["ports"][0]["containerPort"]
    [port] = skeleton(CHART / "templates" / "service.yaml")["spec"]["ports"]
    assert (PORT, CONTAINER["ports"][0]["name"]) == (port["port"], port["targetPort"])


def test_nothing_of_ours_runs_as_root():
    """Nor may it become root; what serves writes nothing."""
    for target in ("core", "pipeline"):
        assert re.findall(r"^USER (.*)", stages()[target], re.MULTILINE) == [USER]
        assert 'ENTRYPOINT ["evenkeel"]' in stages()[target]
    for service in OURS:
        assert (USER, ["ALL"]) == (service["user"], service["cap_drop"])
        assert service["build"]["target"] in stages()
    assert SERVICES["evenkeel"]["read_only"]
    assert POD["securityContext"].items() > {"runAsNonRoot": True, "runAsUser": int(USER)}.items()
    assert CONTAINER["securityContext"]["readOnlyRootFilesystem"]
    assert not CONTAINER["securityContext"]["allowPrivilegeEscalation"]


def test_images_hold_extras_and_versions_that_exist():
    """Nothing is published: each image is built here, of this version."""
    extras = re.findall(r"\.whl\)\[(\w+)\]", DOCKERFILE)
    assert {"otlp", "pipeline"} == set(extras) <= PROJECT["optional-dependencies"].keys()
    tags = {each["image"].partition(":")[2] for each in OURS}
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert {*tags, chart["version"], chart["appVersion"]} == {PROJECT["version"]}
    assert SERVICES["kafka"]["image"] == f"apache/kafka:{KAFKA_VERSION}"


def test_environment_variables_are_keys_of_the_configuration(monkeypatch, tmp_path):
    """The pipeline's are read as they stand; the chart's are the file, and the clusters with their secrets."""
    every = COMPOSE["x-airflow"]["environment"]
    ours = {name: text for name, text in every.items() if name.startswith("EVENKEEL_")}
    known = {f"EVENKEEL_{key.upper()}" for key in Settings.model_fields} | {"EVENKEEL_CONFIG"}
    assert {*ours, *(each["name"] for each in CONTAINER["env"])} <= known
    for name, text in ours.items():
        if text is not None:
            monkeypatch.setenv(name, re.sub(r"\${\w+:-(\w+)}", r"\1", text))
    monkeypatch.delenv("EVENKEEL_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    assert load().clusters["local"].bootstrap == "kafka:9092"


def test_the_chart_has_a_cluster_and_its_secret(monkeypatch, tmp_path):
    """Also with all that is commented out, and the secret as the comment makes it."""
    text = (CHART / "values.yaml").read_text("utf-8")
    [secret] = re.findall(rf"{VALUES['credentials']['key']}=('.*')\n", text)
    file = tmp_path / "evenkeel.toml"
    file.write_text(re.sub(r"(?m)^# ", "", VALUES["config"]), "utf-8")
    monkeypatch.setenv("EVENKEEL_CLUSTERS", *shlex.split(secret))
    properties = load(file).clusters[VALUES["cluster"]].properties
    assert properties.keys() > json.loads(shlex.split(secret)[0])["prod"]["properties"].keys()
    monkeypatch.delenv("EVENKEEL_CLUSTERS")
    file.write_text(VALUES["config"], "utf-8")
    assert list(load(file).clusters) == [VALUES["cluster"]]


def test_templates_and_values_agree():
    """Each value is used, and each that is used is there; each template is YAML and named for what it makes."""
    used = set()
    for path in (CHART / "templates").iterdir():
        used |= set(re.findall(r"\.Values\.([\w.]+)", path.read_text("utf-8")))
    for each in used:
        value(each)
    assert {each.partition(".")[0] for each in used} == VALUES.keys()
    for path in (CHART / "templates").glob("*.yaml"):
        assert skeleton(path)["kind"].lower() == path.stem


@needs("helm")
def test_helm_accepts_the_chart():
    """With all that can be switched on."""
    on = "serviceMonitor.enabled=true,credentials.secret=kafka,podAnnotations.a=b"
    for verb in (["lint", "--strict"], ["template"]):
        subprocess.run([HELM, *verb, str(CHART), "--set", on], check=True, capture_output=True)
