"""Kafka's jars: fetched once, and again where they are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stage.kafka import jars
from tests.stage.process import LocalClusterError

pytestmark = pytest.mark.nightly


def test_damaged_jars_are_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of jars that lost one is made anew; a complete one asks nobody."""
    fetched = []

    def fake(kafka: Path, cache: Path, target: Path, version: str) -> str:
        target.mkdir(parents=True)
        cache.mkdir(exist_ok=True)
        for _, artifact, revision in jars.wanted(version):
            (target / f"{artifact}-{revision}.jar").write_text("jar")
        fetched.append(target)
        return ""

    monkeypatch.setattr(jars, "_run_ivy", fake)
    folder = jars.resolve_jars(tmp_path)
    assert jars.resolve_jars(tmp_path) == folder
    assert len(fetched) == 1
    next(folder.glob("kafka-clients-*.jar")).unlink()
    jars.resolve_jars(tmp_path)
    assert len(fetched) == 2
    assert len(list(folder.glob("*.jar"))) == len(jars.wanted())
    assert jars.resolve_jars(tmp_path, jars.OLDER_VERSION) != folder
    assert jars.resolve_jars(tmp_path) == folder
    assert len(fetched) == 3


@pytest.mark.slow
def test_failed_fetch_shows_what_ivy_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the jars cannot be had, Ivy's last lines and the way out are in the error."""
    settings = tmp_path / "broken.xml"
    settings.write_text("<ivysettings><unknown/></ivysettings>")
    monkeypatch.setenv(jars.SETTINGS_VARIABLE, str(settings))
    with pytest.raises(LocalClusterError, match=r"EVENKEEL_IVY_SETTINGS(.|\n)*unknown"):
        jars.resolve_jars(tmp_path)
