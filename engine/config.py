"""
Settings: one TOML file, the environment above it, everything validated with the key and the fix.

`evenkeel.toml` in the working directory, or the file that `EVENKEEL_CONFIG` names. An environment variable beats an
Airflow connection (handed in by the DAGs), which beats the file. Secrets never stand in the file.
`Settings.version` is the hash stored with every row that depends on the configuration.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from engine.errors import ConfigError

Share = Annotated[float, Field(ge=0, le=1)]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]

SECRET_KEYS = frozenset({"database_url", "slack_token"})
"""Top-level keys the file must not hold."""

UNSHAPING = {"owner", "channel"}
"""Keys of a rule that say who hears of a result, not what it is."""

SECRET_PROPERTIES = ("password", "secret", "sasl.jaas", "ssl.key.pem", "oauthbearer.config")
"""Parts of librdkafka property names whose values are secrets."""


class _Strict(BaseModel):
    """Frozen, and an unknown key is an error that names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Filter(_Strict):
    """Which names to read: shell patterns; deny beats allow; an empty allow list means all."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def admits(self, name: str) -> bool:
        """Whether a group or topic of this name is read."""
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.deny):
            return False
        return not self.allow or any(fnmatch.fnmatchcase(name, p) for p in self.allow)


PASSING_THROUGH = (
    "console-consumer-*",
    "console-share-consumer-*",
    "*-healthcheck-*",
    "*-health-check-*",
)
"""Groups that nobody answers for: those of Kafka's console consumers, and of health checks."""


class ClusterSettings(_Strict):
    """
    One Kafka cluster.

    *properties* are librdkafka property names, as in an Airflow Kafka connection; secrets among them come from
    the connection or the environment only. Without *groups*, `PASSING_THROUGH` are left out. The timeout holds for one
    whole snapshot.
    """

    bootstrap: str = Field(min_length=3)
    properties: dict[str, str] = Field(default_factory=dict, repr=False)
    groups: Filter = Filter(deny=PASSING_THROUGH)
    topics: Filter = Filter()
    timeout_seconds: float = Field(default=240, gt=0)
    request_timeout_seconds: float = Field(default=30, gt=0)

    @field_validator("bootstrap")
    @classmethod
    def _has_ports(cls, value: str) -> str:
        for address in value.split(","):
            host, _, port = address.strip().rpartition(":")
            if not host or not port.isdigit() or not 0 < int(port) < 65536:
                raise ValueError(
                    f"{address.strip()!r} is not host:port; write for example broker1:9092"
                )
        return value


class Policy(_Strict):
    """
    When a better assignment pays. A switch needs one gain and no loss.

    Attributes:
        reach: Which strategies may be advised, by how a user gets them.
        lag_gain: Least relative fall of the largest member lag.
        rack_gain: Least fall of the cross-rack share, in points of 1.
        spread_gain: Least fall of the partition spread, in partitions.
        lag_worth: A largest member lag below this many offsets is nobody's problem.
        moves_per_gain: Moves allowed, as a share of the group's partitions.
        confirmations: Consecutive snapshots in which the same strategy must win.
        near_floor: Within this share above the floor, lag is not the assignment's fault.
    """

    reach: tuple[Literal["setting", "class", "plan"], ...] = ("setting",)
    lag_gain: Share = 0.2
    rack_gain: Share = 0.1
    spread_gain: int = Field(default=2, ge=1)
    lag_worth: int = Field(default=100, ge=0)
    moves_per_gain: Share = 1.0
    confirmations: int = Field(default=2, ge=1)
    near_floor: Share = 0.05


Assignors = tuple[str, ...] | dict[str, tuple[str, ...]]
"""What members list: all of them the same, or by pattern of client id, host or instance id."""

MemberData = dict[str, bool | int | float | str]
"""What configuration says of a member for custom strategies (weight, zone ...)."""

_PATTERNS = 'pattern of client id, host or instance id, like {"app-*" = {weight = 2}}'


class StreamsSettings(_Strict):
    """
    What shapes the assignment of a Kafka Streams application and is not on the wire: Kafka's settings, `_` for `.`.

    Attributes:
        task_assignor: `high-availability` or `sticky`; it decides about the usual costs.
        rack_aware_assignment_strategy: `none`, `min_traffic` or `balance_subtopology`; KIP-925's draft names are read
            as well. None: not known, Kafka's default is taken.
        rack_aware_assignment_traffic_cost, rack_aware_assignment_non_overlap_cost: None: as the assignor has them.
        rack_aware_assignment_tags: Client tags that keep copies apart. None: all that the clients have.
        num_standby_replicas: Copies of each store. None: as many as every store has now.
        acceptable_recovery_lag: Offsets.
        max_warmup_replicas: Copies that may be built at a time.
        rack_as_tag: Take racks for a tag where no tags are set. Promised by KIP-925; no release of Kafka does it.
        overlap: What a task that changes hands is charged against: `computed`, as shipped, or `previous`.
        changelogs: Sub-topology -> its changelog topics, where names and sizes do not tell them apart.
    """

    task_assignor: Literal["high-availability", "sticky"] = "high-availability"
    rack_aware_assignment_strategy: str | None = None
    rack_aware_assignment_traffic_cost: int | None = Field(default=None, ge=0)
    rack_aware_assignment_non_overlap_cost: int | None = Field(default=None, ge=0)
    rack_aware_assignment_tags: tuple[str, ...] | None = None
    num_standby_replicas: int | None = Field(default=None, ge=0)
    acceptable_recovery_lag: int = Field(default=10_000, ge=0)
    max_warmup_replicas: int = Field(default=2, ge=1)
    rack_as_tag: bool = False
    overlap: Literal["computed", "previous"] = "computed"
    changelogs: dict[str, tuple[str, ...]] | None = None

    @field_validator("rack_aware_assignment_strategy")
    @classmethod
    def _known_strategy(cls, value: str | None) -> str | None:
        if value is not None and value.lower() not in _RACK_STRATEGIES:
            raise ValueError("use none, min_traffic or balance_subtopology")
        return value


_RACK_STRATEGIES = ("none", "min_traffic", "balance_subtopology", "min_cost", "balanced_min_cost")


class Rule(_Strict):
    """
    What is known of some groups that the wire does not tell. Later rules override earlier ones, key by key.

    Attributes:
        groups: Shell pattern of group ids.
        clusters: Shell pattern of cluster names.
        auto_offset_reset: The group's own setting; without it the lag of a partition without commit is unknown.
        isolation: `read_committed` groups are measured against the last stable offset.
        capacity_per_second: Offsets/s one member can consume.
        assignors: The members' `partition.assignment.strategy`, most preferred first: one list for all of them, or
            shell patterns of client id, host or instance id -> list, of which the first that fits counts. Names on
            the wire, or Kafka's class names.
        owner: Team that hears of it.
        channel: Slack channel, instead of the default one.
        racks: Shell patterns of client id or host, or networks like `10.0.1.0/24` -> rack, for members whose rack the
            wire does not tell; the first that fits counts.
        members: Shell patterns of client id, host or instance id -> data of a member for custom strategies, any
            names and plain values. All patterns that fit count, later over earlier, name by name.
        streams: Settings of Kafka Streams applications.
        policy: When advice pays.
    """

    groups: str = "*"
    clusters: str = "*"
    auto_offset_reset: str | None = None
    isolation: Literal["read_committed", "read_uncommitted"] | None = None
    capacity_per_second: float | None = Field(default=None, gt=0)
    assignors: Assignors | None = None
    owner: str | None = None
    channel: str | None = None
    racks: dict[str, str] | None = None
    members: dict[str, MemberData] | None = None
    streams: StreamsSettings | None = None
    policy: Policy | None = None

    @field_validator("auto_offset_reset")
    @classmethod
    def _known_reset(cls, value: str | None) -> str | None:
        if (
            value is None
            or value in ("latest", "earliest", "none")
            or value.startswith("by_duration:")
        ):
            return value
        raise ValueError("use latest, earliest, none or by_duration:<ISO duration>")

    @field_validator("assignors", mode="before")
    @classmethod
    def _lists_of_names(cls, value: Any) -> Any:
        lists = value.values() if isinstance(value, Mapping) else [value]
        if value is not None and not (lists and all(map(_names_something, lists))):
            raise ValueError(
                'write a list of strategies, like ["range", "roundrobin"], or a table of such lists by pattern of '
                "client id, host or instance id; each strategy once"
            )
        return value

    @field_validator("members", mode="before")
    @classmethod
    def _plain_data(cls, value: Any) -> Any:
        if value is not None and not isinstance(value, Mapping):
            raise ValueError(f"write a table of tables by {_PATTERNS}")
        for pattern, data in (value or {}).items():
            if not isinstance(data, Mapping):
                raise ValueError(f"{pattern!r} is no table; write one by {_PATTERNS}")
            odd = [name for name, one in data.items() if not _is_plain(one)]
            if odd:
                raise ValueError(
                    f"{odd[0]} of {pattern!r} must be text, a finite number, true or false"
                )
        return value

    def rack_of(self, client_id: str, host: str) -> str | None:
        """
        What *racks* says of one member, None where nothing fits.

        >>> rule = Rule(racks={"10.0.1.0/24": "a", "web-*": "b"})
        >>> rule.rack_of("web-1", "10.0.1.7"), rule.rack_of("web-1", "10.0.2.7"), rule.rack_of("x", "host")
        ('a', 'b', None)
        """
        for pattern, rack in (self.racks or {}).items():
            if any(fnmatch.fnmatchcase(name, pattern) for name in (client_id, host)):
                return rack
            if "/" in pattern and _is_in(host, pattern):
                return rack
        return None

    def member_data(self, client_id: str, host: str, instance_id: str | None) -> MemberData:
        """
        What *members* says of one member, nothing where no pattern fits.

        >>> rule = Rule(members={"*": {"weight": 1, "zone": "a"}, "big-*": {"weight": 3}})
        >>> rule.member_data("big-1", "/10.0.0.1", None)
        {'weight': 3, 'zone': 'a'}
        """
        names = [client_id, host, host.removeprefix("/"), instance_id or ""]
        found: MemberData = {}
        for pattern, data in (self.members or {}).items():
            if any(fnmatch.fnmatchcase(name, pattern) for name in names):
                found |= data
        return found


def _is_in(host: str, network: str) -> bool:
    """Whether a host's address is in a network; a name is in none, and so is anything in what is no network."""
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False


def _is_plain(value: Any) -> bool:
    """Whether a value of a member's data is one that JSON and every reader of it know."""
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _names_something(listed: Any) -> bool:
    """Whether this is a list of names, at least one, none of them twice."""
    if not isinstance(listed, list | tuple) or not listed:
        return False
    named = all(isinstance(name, str) and name.strip() for name in listed)
    return named and len(set(listed)) == len(listed)


class Settings(BaseSettings):
    """Everything configurable. Build it with `load`."""

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
        shaping = {
            "lookback": self.lookback,
            "withhold_share": self.withhold_share,
            "rules": [
                {key: _ordered(value) for key, value in rule.model_dump(exclude=UNSHAPING).items()}
                for rule in self.rules
            ],
        }
        text = json.dumps(shaping, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def cluster(self, name: str) -> ClusterSettings:
        """
        Raises:
            ConfigError: No cluster of that name is configured.
        """
        if name not in self.clusters:
            known = ", ".join(sorted(self.clusters)) or "none"
            raise ConfigError(
                f"cluster {name!r} is not configured (configured: {known}).",
                fix=f"Add [clusters.{name}] with bootstrap to evenkeel.toml.",
            )
        return self.clusters[name]

    def rule(self, cluster: str, group: str) -> Rule:
        """What is known of one group: the matching rules, later over earlier."""
        merged: dict[str, Any] = {}
        for rule in self.rules:
            if fnmatch.fnmatchcase(cluster, rule.clusters) and fnmatch.fnmatchcase(
                group, rule.groups
            ):
                known = _given(rule)
                below = merged.get("policy")
                if below is not None and rule.policy is not None:
                    known["policy"] = below.model_copy(update=_given(rule.policy))
                merged |= known
        return Rule(**merged)

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


def _ordered(value: Any) -> Any:
    """A table whose order says which pattern counts, as pairs in that order."""
    return list(value.items()) if isinstance(value, dict) else value


def _given(model: BaseModel) -> dict[str, Any]:
    """The keys that were written down, without the defaults."""
    return {key: getattr(model, key) for key in model.model_fields_set}


def load(
    path: str | Path | None = None, *, connections: Mapping[str, Any] | None = None
) -> Settings:
    """
    Read and validate the configuration.

    Args:
        path: The file; without it `EVENKEEL_CONFIG`, else `evenkeel.toml` if there is one.
        connections: Values from Airflow connections, in the shape of the settings; they beat the file.

    Raises:
        ConfigError: With every wrong key, what is wrong with it, and where the file is.
    """
    file = _config_file(path)
    content = _read(file) if file else {}
    try:
        return Settings(**_merge(content, connections or {}))
    except ValidationError as problem:
        raise ConfigError(_explain(problem, file), fix="Correct it and try again.") from None
    except SettingsError as problem:
        key = re.search(r'field "(\w+)"', str(problem))
        raise ConfigError(
            f"the environment variable EVENKEEL_{key[1].upper() if key else '...'} is not JSON.",
            fix="Write it as JSON, or put the value into evenkeel.toml.",
        ) from None


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


def _explain(problem: ValidationError, file: Path | None) -> str:
    """One clause per wrong key; the value is left out, it may be a secret."""
    where = str(file) if file else "the environment (no evenkeel.toml was found)"
    clauses = []
    for error in problem.errors(include_input=False, include_url=False):
        key = ".".join(str(part) for part in error["loc"] if part != "[key]") or "(top level)"
        reason = error["msg"].removeprefix("Value error, ")
        unknown = "no such key" if error["type"] == "extra_forbidden" else reason
        clauses.append(f"{key}: {unknown}")
    return f"in {where}: {'; '.join(clauses)}."
