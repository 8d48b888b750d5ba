"""
Settings: one TOML file, the environment above it, everything validated with the key and the fix.

`evenkeel.toml` in the working directory, or the file that `EVENKEEL_CONFIG` names. An environment variable beats an
Airflow connection (handed in by the DAGs), which beats the file. Secrets never stand in the file.
`Settings.version` is the hash stored with every row that depends on the configuration.

`clusters` (what is read), `rules` and `streams` (what is known of groups and not on the wire, when advice pays).
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from evenkeel.engine.config.base import Share
from evenkeel.engine.config.book import RuleBook
from evenkeel.engine.config.clusters import ClusterSettings, Filter, RefusedCluster
from evenkeel.engine.config.rules import Assignors, MemberData, Policy, Rule
from evenkeel.engine.config.streams import StreamsSettings
from evenkeel.engine.errors import ConfigError

__all__ = [
    "SECRET_KEYS",
    "SECRET_PROPERTIES",
    "Assignors",
    "ClusterSettings",
    "Filter",
    "MemberData",
    "Policy",
    "RefusedCluster",
    "Rule",
    "Settings",
    "Share",
    "StreamsSettings",
    "cluster_names",
    "is_secret",
    "load",
]

Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]

SECRET_KEYS = frozenset({"database_url", "slack_token"})
"""Top-level keys the file must not hold."""

SECRET_PROPERTIES = ("password", "secret", "sasl.jaas", "ssl.key.pem", "oauthbearer.config")
"""Parts of librdkafka property names whose values are secrets."""


class Settings(BaseSettings):
    """
    Everything configurable. Build it with `load`.

    Attributes:
        lake: Folder of snapshots and of what is computed from them: any path that Spark and pyarrow can read.
        lookback: Earlier snapshots that rates, time lag and statuses look back on.
        keep_days: What is older leaves the lake and the history.
        withhold_share: A snapshot is rejected when more than this share of its groups fails validation.
        late_after_seconds: A cluster whose newest snapshot is older is reported as late.
        slack_channel: Where alerts go unless a rule says otherwise.
        slack_base_url: Address of Slack's API; another one for tests.
        slack_token: Bot token of Slack. Environment or connection only.
        database_url: Address of the history, with user and password. Environment or connection only.
        clusters: The Kafka clusters by name: small letters, digits, `-` and `_`, at most 40.
        rules: What is known of groups; later rules override earlier ones, key by key.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_prefix="EVENKEEL_")

    lake: str = ".evenkeel/lake"
    lookback: int = Field(default=12, ge=1, le=500)
    keep_days: int = Field(default=90, ge=1)
    withhold_share: Share = 0.5
    late_after_seconds: float = Field(default=900, gt=0)
    slack_channel: str = "#kafka"
    slack_base_url: str = "https://slack.com/api/"
    slack_token: SecretStr | None = None
    database_url: SecretStr | None = None
    clusters: dict[Slug, ClusterSettings] = Field(default_factory=dict)
    rules: tuple[Rule, ...] = ()

    _book: RuleBook = PrivateAttr(default_factory=lambda: RuleBook(()))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment beats what was handed in (connections over file)."""
        return env_settings, init_settings

    @property
    def version(self) -> str:
        """Hash of all that shapes results; addresses, secrets and channels are left out."""
        return self._opened().version(lookback=self.lookback, withhold_share=self.withhold_share)

    def cluster(self, name: str) -> ClusterSettings:
        """
        Raises:
            ConfigError: No cluster of that name is configured, or its connection makes no sense.
        """
        if name not in self.clusters:
            known = ", ".join(sorted(self.clusters)) or "none"
            raise ConfigError(
                f"cluster {name!r} is not configured (configured: {known}).",
                fix=f"Add [clusters.{name}] with bootstrap to evenkeel.toml.",
            )
        found = self.clusters[name]
        if isinstance(found, RefusedCluster):
            raise ConfigError(found.why)
        return found

    def rule(self, cluster: str, group: str) -> Rule:
        """What is known of one group: the matching rules, later over earlier."""
        return self._opened().of(cluster, group)

    def _opened(self) -> RuleBook:
        """The book of these very rules: a copy with other rules was handed that of the original."""
        book, rules = self._book, self.rules
        if book.rules is not rules:
            book = self._book = RuleBook(rules)
        return book

    def listings(self, cluster: str) -> list[dict[str, Any]]:
        """The rules that say what a cluster's members list, as plain values to keep with a snapshot."""
        told = (r for r in self.rules if fnmatch.fnmatchcase(cluster, r.clusters))
        return [r.model_dump(include={"groups", "assignors"}) for r in told if r.assignors]

    def remembering(self, listings: Iterable[Mapping[str, Any]]) -> Settings:
        """These settings above the `listings` kept with a snapshot: what was known then, unless said otherwise."""
        recorded = (Rule(groups=one["groups"], assignors=one["assignors"]) for one in listings)
        return self.model_copy(update={"rules": (*recorded, *self.rules)})

    def policy(self, cluster: str, group: str) -> Policy:
        """When advice pays for one group."""
        return self.rule(cluster, group).policy or Policy()


def load(
    path: str | Path | None = None,
    *,
    connections: Mapping[str, Any] | None = None,
    refused: Mapping[str, str] | None = None,
) -> Settings:
    """
    Read and validate the configuration.

    The file is right or refused as a whole. A connection that makes no sense costs its own cluster only, which then is
    a `RefusedCluster`.

    Args:
        path: The file; without it `EVENKEEL_CONFIG`, else `evenkeel.toml` if there is one.
        connections: Values from Airflow connections, in the shape of the settings; they beat the file.
        refused: Clusters whose connection makes no sense, and why.

    Raises:
        ConfigError: With every wrong key, what is wrong with it, and where the file is.
    """
    file = _config_file(path)
    content = _read(file) if file else {}
    try:
        return _build(content, connections, refused or {})
    except ValidationError as problem:
        raise ConfigError(_explain(problem, file), fix="Correct it and try again.") from None
    except SettingsError as problem:
        key = re.search(r'field "(\w+)"', str(problem))
        raise ConfigError(
            f"the environment variable EVENKEEL_{key[1].upper() if key else '...'} is not JSON.",
            fix="Write it as JSON, or put the value into evenkeel.toml.",
        ) from None


def _build(
    content: Mapping[str, Any], connections: Mapping[str, Any] | None, refused: Mapping[str, str]
) -> Settings:
    """The settings, clusters that are refused among them; one whose connection gives no address is another."""
    stand_ins = {name: RefusedCluster(why=why) for name, why in refused.items()}
    addresses = {name: {"bootstrap": one.bootstrap} for name, one in stand_ins.items()}
    values = _merge(content, connections or {})
    if addresses:
        values = _merge(values, {"clusters": addresses})
    try:
        settings = Settings(**values)
    except ValidationError as problem:
        more = {} if connections is None else _without_address(problem, content, connections)
        if more.keys() <= refused.keys():
            raise
        return _build(content, connections, {**refused, **more})
    return settings.model_copy(update={"clusters": {**settings.clusters, **stand_ins}})


def _without_address(
    problem: ValidationError, content: Mapping[str, Any], connections: Mapping[str, Any]
) -> dict[str, str]:
    """The clusters whose address is wrong and not the file's: name -> what is wrong with it."""
    faults = {}
    for error in problem.errors(include_input=False, include_url=False):
        where = [str(part) for part in error["loc"]]
        if len(where) != 3 or (where[0], where[2]) != ("clusters", "bootstrap"):
            continue
        in_file, told = (_table(_table(c, "clusters"), where[1]) for c in (content, connections))
        if "bootstrap" in told or "bootstrap" not in in_file:
            reason = error["msg"].removeprefix("Value error, ")
            faults[where[1]] = (
                f"bootstrap of cluster {where[1]!r}: {reason}. "
                f"Correct bootstrap.servers of the Airflow connection evenkeel_{where[1]}, or EVENKEEL_CLUSTERS."
            )
    return faults


def cluster_names(path: str | Path | None = None) -> list[str]:
    """
    The names of the clusters that file and environment speak of, sorted; nothing else is validated yet.

    Whoever has connections (Airflow) must know for which names to look before there are settings.

    Raises:
        ConfigError: The file cannot be read.
    """
    file = _config_file(path)
    named = _read(file).get("clusters", {}) if file else {}
    try:
        more = json.loads(os.environ.get("EVENKEEL_CLUSTERS") or "{}")
    except ValueError:
        more = {}  # `load` says what is wrong with it
    return sorted({name for each in (named, more) if isinstance(each, dict) for name in each})


def _config_file(path: str | Path | None) -> Path | None:
    named = path or os.environ.get("EVENKEEL_CONFIG")
    if named:
        file = Path(named)
        if not file.is_file():
            raise ConfigError(
                f"no configuration file {file}.",
                fix="Set EVENKEEL_CONFIG to an existing evenkeel.toml.",
            )
        return file
    default = Path("evenkeel.toml")
    return default if default.is_file() else None


def _read(file: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise ConfigError(
            f"{file} cannot be read: {problem}.", fix="Correct the TOML."
        ) from problem
    secrets = sorted(SECRET_KEYS & content.keys()) + [
        f"clusters.{name}.properties.{key}"
        for name, cluster in _table(content, "clusters").items()
        for key in _table(cluster, "properties")
        if is_secret(key)
    ]
    if secrets:
        raise ConfigError(
            f"{file} holds a secret ({', '.join(secrets)}).",
            fix="Move it to an Airflow connection or an EVENKEEL_ environment variable.",
        )
    return content


def _table(content: Any, key: str) -> Mapping[str, Any]:
    """The table under a key; an empty one where something else stands, which validation names."""
    found = content.get(key) if isinstance(content, dict) else None
    return found if isinstance(found, dict) else {}


def is_secret(key: str) -> bool:
    """Whether a librdkafka property of this name holds a secret."""
    return any(part in key for part in SECRET_PROPERTIES)


def _merge(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Nested mappings joined; *upper* wins."""
    merged = dict(lower)
    for key, value in upper.items():
        below = merged.get(key)
        nested = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[key] = _merge(below, value) if nested else value  # type: ignore[arg-type]
    return merged


_PLAINLY = {"extra_forbidden": "no such key", "tuple_type": 'write a list, like ["a", "b"]'}
"""What some kinds of error of the models are called in a file."""


def _explain(problem: ValidationError, file: Path | None) -> str:
    """One clause per wrong key; the value is left out, it may be a secret."""
    where = str(file) if file else "the environment (no evenkeel.toml was found)"
    clauses = []
    for error in problem.errors(include_input=False, include_url=False):
        key = ".".join(str(part) for part in error["loc"] if part != "[key]") or "(top level)"
        reason = error["msg"].removeprefix("Value error, ")
        clauses.append(f"{key}: {_PLAINLY.get(error['type'], reason)}")
    return f"in {where}: {'; '.join(clauses)}."
