"""
Settings: one TOML file, the environment above it, everything validated with the key and the fix.

`evenkeel.toml` in the working directory, or the file that `EVENKEEL_CONFIG` names. An environment variable beats an
Airflow connection (handed in by the DAGs), which beats the file. Secrets never stand in the file.
`Settings.version` is the hash stored with every row that depends on the configuration.

`clusters` (what is read), `rules` and `streams` (what is known of groups and not on the wire, when advice pays),
`webhooks` (who is paged), `windows` (planned work), `file` (what stands in it).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping
from json import JSONDecodeError
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from ..model.errors import ConfigError
from .base import ADDRESS, Share
from .clusters import ClusterSettings, Filter, RefusedCluster
from .explain import explained
from .faults import Given
from .file import (
    SECRET_KEYS,
    SECRET_PROPERTIES,
    cluster_names,
    config_file,
    from_environment,
    is_secret,
    read,
    table,
    webhook_names,
)
from .group_rules import RuleBook
from .rules import Assignors, IncidentRules, MemberData, Policy, Rule
from .streams import StreamsSettings
from .webhooks import Webhook
from .windows import MaintenanceWindow

__all__ = [
    "ADDRESS",
    "SECRET_KEYS",
    "SECRET_PROPERTIES",
    "Assignors",
    "ClusterSettings",
    "Filter",
    "IncidentRules",
    "MaintenanceWindow",
    "MemberData",
    "Policy",
    "RefusedCluster",
    "Rule",
    "Settings",
    "Share",
    "StreamsSettings",
    "Webhook",
    "cluster_names",
    "is_secret",
    "load",
    "webhook_names",
]

Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]


_URL = re.compile(
    r"[a-z][a-z0-9+]*://([^@/?#]*@)?(\[[^]@/?#]*]|[^]\[:@/?#]*)(:[0-9]+)?(/[^@/?#]*)?(\?[a-z_]+=[^#]*)?",
    re.IGNORECASE,
)
"""Login, server, port, database and options; what is not quoted in a login makes something else of them."""


def _quoted(url: SecretStr) -> SecretStr:
    """Refuse a URL in which the password may be taken for something that is shown, such as the server."""
    if "@" in url.get_secret_value() and not _URL.fullmatch(url.get_secret_value()):
        raise ValueError(
            "is not a URL: write postgresql://user:password@host:5432/evenkeel, and in user and password "
            "%40 for @, %2F for /, %3A for :, %3F for ?, %23 for #, %25 for %"
        )
    return url


_POLICY, _INCIDENTS = Policy(), IncidentRules()


class Settings(BaseSettings):
    """
    Everything configurable. Build it with `load`.

    Attributes:
        lake: Folder or URI of the lake: snapshots and computed results, as Parquet. Spark and pyarrow must be able to
            read it.
        lookback: Number of earlier snapshots used for rates, time behind and diagnoses.
        keep_days: Days to keep snapshots and results in the lake and in the history database.
        keep_whole_days: Days to keep every snapshot and result in the lake. Older days have one snapshot per hour, and
            the results of one.
        keep_detail_hours: Hours, before its newest snapshot, that the history database keeps all metrics of groups and
            members and unchanged advice. The lake keeps them as long as the snapshot.
        keep_hourly_days: Days to keep hourly rollups of groups; at least `keep_days`.
        keep_daily_days: Days to keep daily rollups of groups and their diagnoses; at least `keep_hourly_days`.
        keep_candidate_hourly_days: Days to keep hourly rollups of the results of strategies.
        keep_candidate_daily_days: Days to keep daily rollups of the results of strategies; at least
            `keep_candidate_hourly_days`.
        max_failed_share: evenkeel rejects a snapshot if more than this share of its groups fails validation.
        spark_above: evenkeel uses Spark if the groups of a snapshot have more partitions and members than this, else it
            computes in the Airflow task. 0: always Spark.
        stale_after_seconds: A cluster is stale if its newest snapshot is older than this.
        slack_channel: Default Slack channel. A rule can name another.
        digest_threshold: If more group incidents than this open or resolve at once in a channel, evenkeel sends a
            digest.
        slack_base_url: Address of Slack's API. Change it only for tests.
        report_url: Address of the report pages that messages link to. Default: the pages in Airflow, if Airflow knows
            its own address (`[api] base_url`).
        runbook_url: Address of the pages about diagnoses, e.g. `https://docs.example/evenkeel/diagnoses`. Messages link
            to `<runbook_url>/<diagnosis>/`. Default: the pages in Airflow, if Airflow knows its own address.
        slack_token: Slack bot token. Set it in the environment or a connection only.
        slack_webhook_url: Slack incoming webhook, used if there is no token. Set it in the environment or a connection
            only.
        heartbeat_url: URL that evenkeel calls after each successful run. `{cluster}` in it is replaced by the cluster's
            name. Set it in the environment or a connection only.
        database_url: Address of the history database, with user and password. Set it in the environment or a connection
            only.
        clusters: The Kafka clusters by name: lower-case letters, digits, `-` and `_`, at most 40 characters.
        rules: Facts and policies for groups. Later rules override earlier ones, key by key.
        webhooks: PagerDuty and Alertmanager receivers by name: lower-case letters, digits, `-` and `_`, at most 40
            characters.
        maintenance: Planned work: windows without alerts about some groups.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix="EVENKEEL_", env_ignore_empty=True
    )

    lake: str = ".evenkeel/lake"
    lookback: int = Field(default=12, ge=1, le=500)
    keep_days: int = Field(default=90, ge=1)
    keep_whole_days: int = Field(default=5, ge=1)
    keep_detail_hours: float = Field(default=1, ge=0)
    keep_hourly_days: int = Field(default=180, ge=1)
    keep_daily_days: int = Field(default=1100, ge=1)
    keep_candidate_hourly_days: int = Field(default=2, ge=1)
    keep_candidate_daily_days: int = Field(default=400, ge=1)
    max_failed_share: Share = 0.5
    spark_above: int = Field(default=200_000, ge=0)
    stale_after_seconds: float = Field(default=900, gt=0)
    slack_channel: str = "#kafka"
    digest_threshold: int = Field(default=5, ge=1)
    slack_base_url: str = "https://slack.com/api/"
    report_url: str | None = Field(default=None, pattern=ADDRESS)
    runbook_url: str | None = Field(default=None, pattern=ADDRESS)
    slack_token: SecretStr | None = None
    slack_webhook_url: SecretStr | None = None
    heartbeat_url: SecretStr | None = None
    database_url: Annotated[SecretStr, AfterValidator(_quoted)] | None = None
    clusters: dict[Slug, ClusterSettings] = Field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    webhooks: dict[Slug, Webhook] = Field(default_factory=dict)
    maintenance: tuple[MaintenanceWindow, ...] = ()

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
        """The environment, but for empty variables, beats what was handed in (connections over file)."""
        return env_settings, init_settings

    @property
    def version(self) -> str:
        """Hash of all that shapes results; addresses, secrets, channels and planned work are left out."""
        return self._opened().version(
            lookback=self.lookback, max_failed_share=self.max_failed_share
        )

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

    def rules_of(self, cluster: str, groups: Iterable[str]) -> list[Rule]:
        """The same of many groups of a cluster."""
        book = self._opened()
        return [book.of(cluster, group) for group in groups]

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
        return self.rule(cluster, group).policy or _POLICY

    def incidents(self, cluster: str, group: str) -> IncidentRules:
        """When something wrong with one group is worth waking somebody."""
        return self.rule(cluster, group).incidents or _INCIDENTS


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
        connections: Values from Airflow connections, in the shape of the settings. They override the file.
        refused: Clusters whose connection makes no sense, and why.

    Raises:
        ConfigError: With every wrong key, what is wrong with it, and where the file is.
    """
    file = config_file(path)
    content = read(file) if file else {}
    try:
        return _build(content, connections, refused or {})
    except ValidationError as problem:
        what = _faults(problem, file, content, connections)
        raise ConfigError(what, fix="Correct it and try again.") from None
    except SettingsError as problem:
        raise _not_json(problem) from None


def _not_json(problem: SettingsError) -> ConfigError:
    """A variable that holds no JSON; what it holds is left out, it may be a secret."""
    found = re.search(r'field "(\w+)"', str(problem))
    key, reason = found[1] if found else "...", problem.__cause__
    where = (
        f": {reason.msg} at character {reason.pos + 1}"
        if isinstance(reason, JSONDecodeError)
        else ""
    )
    examples = {
        "webhooks": '{"oncall": {"key": "..."}}',
        "clusters": '{"eu": {"bootstrap": "broker1:9092"}}',
    }
    example = examples.get(key, '[{"groups": "orders-*", "reason": "..."}]')
    return ConfigError(
        f"the environment variable EVENKEEL_{key.upper()} is not JSON{where}.",
        fix=f"Write it like {example}.",
    )


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
        in_file, told = (table(table(c, "clusters"), where[1]) for c in (content, connections))
        if "bootstrap" in told or "bootstrap" not in in_file:
            reason = error["msg"].removeprefix("Value error, ")
            faults[where[1]] = (
                f"bootstrap of cluster {where[1]!r}: {reason}. "
                f"Correct bootstrap.servers of the Airflow connection evenkeel_{where[1]}, or EVENKEEL_CLUSTERS."
            )
    return faults


def _merge(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Nested mappings joined; *upper* wins."""
    merged = dict(lower)
    for key, value in upper.items():
        below = merged.get(key)
        nested = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[key] = _merge(below, value) if nested else value  # type: ignore[arg-type]
    return merged


def _faults(
    problem: ValidationError,
    file: Path | None,
    content: Mapping[str, Any],
    connections: Mapping[str, Any] | None,
) -> str:
    """Every wrong key, with what is wrong with it."""
    given = Given(
        settings=Settings,
        file=file,
        content=content,
        connections=connections or {},
        environment=from_environment(Settings.model_fields),
    )
    return explained(problem.errors(include_url=False), given)
