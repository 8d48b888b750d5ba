"""What is known of some groups that the wire does not tell, when advice pays and when somebody is woken."""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ..model.pauses import USUAL, Pauses
from .base import Share, Strict, as_list
from .streams import StreamsSettings

Assignors = tuple[str, ...] | dict[str, tuple[str, ...]]
"""What members list: all of them the same, or by pattern of client id, host or instance id."""

MemberData = dict[str, bool | int | float | str]
"""What configuration says of a member for custom strategies (weight, zone ...)."""

MENTION = re.compile("@here|@channel|[UWS][A-Z0-9]{5,}")
"""Whom Slack can call: those in the channel, a person, a user group."""

_PATTERNS = 'pattern of client id, host or instance id, like {"app-*" = {weight = 2}}'


class Policy(Strict):
    """
    When a better assignment pays. A switch needs one gain and no loss.

    Attributes:
        deployment: The kinds of deployment that evenkeel may recommend. A plan is always allowed if the group follows
            plans.
        lag_gain: The least share of the lag over the next hour that a switch saves (p50, restarts included). If the
            hour changes the lag by less than the lag itself, the share is of that change.
        least_saving_bytes_per_day: The least saving of cross-rack bytes.
        least_saving_records_per_day: The least saving of cross-rack records, if record sizes are unknown.
        cost_gain: The least saving per month, in the rule's currency. If costs are known, it replaces the two above.
        moves_per_gain: The most partitions that may move, as a share of the group's partitions.
        hysteresis: The share of each threshold that is enough to keep a switch advised.
        near_lower_bound: If lag is within this share above its lower bound, the assignment isn't the cause.
        repeat_interval_seconds: The time between two messages about the advice of a group with the same diagnosis.
        rebalance_seconds: How long partitions pause in a rebalance that revokes them. Without it, evenkeel uses what it
            measured of the group or of others with its client library, else 5 s, or the assignment interval of a
            KIP-848 group if longer.
        restart_seconds: How long a member is away when it restarts. Without it, evenkeel uses what it measured, as
            above, else 30 s.
        confirm_evidence: The evidence that a switch needs to be advised, and to be withdrawn. 20 takes 25 minutes or
            more, 5 takes 15, and 1 only one snapshot. Of so many switches without a gain, at most one is advised.
        revert_cooldown_seconds: How long after a switch evenkeel doesn't advise the reverse, unless the diagnosis
            changed.
        expires_seconds: How long evenkeel waits for an advised switch to be adopted.
        mute_misses: After this many missed forecasts in a row evenkeel stops advising the strategy to the group.
        mute_seconds: How long the strategy stays muted after the last miss. Older misses don't count.
    """

    deployment: Annotated[
        tuple[Literal["setting", "class", "plan"], ...], BeforeValidator(as_list)
    ] = ("setting", "plan")
    lag_gain: Share = 0.2
    least_saving_bytes_per_day: float = Field(default=1_000_000_000, ge=0, allow_inf_nan=False)
    least_saving_records_per_day: float = Field(default=1_000_000, ge=0, allow_inf_nan=False)
    cost_gain: float | None = Field(default=None, ge=0.01, allow_inf_nan=False)
    moves_per_gain: Share = 1.0
    hysteresis: Share = 0.5
    near_lower_bound: Share = 0.05
    repeat_interval_seconds: float = Field(default=86_400, ge=0, allow_inf_nan=False)
    rebalance_seconds: float = Field(default=USUAL.rebalance_seconds, ge=0, allow_inf_nan=False)
    restart_seconds: float = Field(default=USUAL.restart_seconds, ge=0, allow_inf_nan=False)
    confirm_evidence: float = Field(default=20, ge=1, allow_inf_nan=False)
    revert_cooldown_seconds: float = Field(default=604_800, ge=0, allow_inf_nan=False)
    expires_seconds: float = Field(default=604_800, gt=0, allow_inf_nan=False)
    mute_misses: int = Field(default=2, ge=1)
    mute_seconds: float = Field(default=2_592_000, ge=0, allow_inf_nan=False)

    def pauses(self, *, eager: bool) -> Pauses:
        """For how long partitions stand still in a group whose members give up everything at a rebalance, or not."""
        return Pauses(
            rebalance_seconds=self.rebalance_seconds,
            restart_seconds=self.restart_seconds,
            eager=eager,
        )


class IncidentRules(Strict):
    """
    When evenkeel opens an incident for a group, and when it resolves it.

    Attributes:
        enabled: Whether evenkeel opens incidents for these groups.
        for_snapshots: A problem must show in this many snapshots in a row to open an incident, and be gone for as many
            to resolve it. Data loss and skipped offsets open one at the first.
        not_committing_seconds: How long a member, a partition or a group must not commit.
        behind_seconds: How long a group must breach its lag SLO, or have a skewed load.
        rebalancing_seconds: How long a rebalance must last.
        capacity_seconds: How long a group must be under-provisioned, or have a slow member or a hot partition.
        stores_seconds: How long all copies of a Kafka Streams store must be in one rack.
        loss_within_seconds: If retention reaches unread records within this time, data loss is imminent.
        resolve_after_seconds: How long a group must be healthy before its incident is resolved.
        flap_window_seconds: A problem that returns within this time is flapping. Its incident stays open until the
            group has been healthy for 1.5 times as long as the last time, or for this long. If the group stays within
            its lag SLO, but not within the hysteresis, the incident is resolved after this long, too.
        hysteresis: A group that breached its lag SLO has recovered when it is within this share of it.
        worse_factor: A problem is worse if the group is this many times as far behind as the last message and the
            growth until then let you expect.
        shift_seconds: An open incident gets one line in its thread per this time without news.
        deleted_after_seconds: A group that is missing for this long counts as deleted for good.
    """

    enabled: bool = True
    for_snapshots: int = Field(default=2, ge=1)
    not_committing_seconds: float = Field(default=300, ge=0, allow_inf_nan=False)
    behind_seconds: float = Field(default=900, ge=0, allow_inf_nan=False)
    rebalancing_seconds: float = Field(default=900, ge=0, allow_inf_nan=False)
    capacity_seconds: float = Field(default=900, ge=0, allow_inf_nan=False)
    stores_seconds: float = Field(default=3600, ge=0, allow_inf_nan=False)
    loss_within_seconds: float = Field(default=3600, ge=0, allow_inf_nan=False)
    resolve_after_seconds: float = Field(default=300, ge=0, allow_inf_nan=False)
    flap_window_seconds: float = Field(default=7200, ge=0, allow_inf_nan=False)
    hysteresis: Share = 0.5
    worse_factor: float = Field(default=2.0, gt=1, allow_inf_nan=False)
    shift_seconds: float = Field(default=28_800, gt=0, allow_inf_nan=False)
    deleted_after_seconds: float = Field(default=86_400, gt=0, allow_inf_nan=False)


def known_reset(value: str) -> str:
    """
    An `auto.offset.reset` as Kafka's clients know it.

    Raises:
        ValueError: It is none.
    """
    if value in ("latest", "earliest", "none") or value.startswith("by_duration:"):
        return value
    raise ValueError("use latest, earliest, none or by_duration:<ISO duration>")


def _somebody(value: str) -> str:
    if MENTION.fullmatch(value):
        return value
    raise ValueError(
        "write @here, @channel, or the id of a person (U...) or of a user group (S...), as Slack shows it under"
        " 'Copy member ID': names do not mention anyone"
    )


def _three_letters(value: str) -> str:
    if re.fullmatch("[A-Z]{3}", value):
        return value
    raise ValueError("write three capital letters, like EUR (ISO 4217)")


def _a_version(value: str) -> str:
    if re.fullmatch(r"\d+(\.\d+)+", value):
        return value
    raise ValueError("write the version as numbers, like 3.9 or 2.12.1")


def _names_something(listed: Any) -> bool:
    """Whether this is a list of names, at least one, none of them twice."""
    if not isinstance(listed, list | tuple) or not listed:
        return False
    named = all(isinstance(name, str) and name.strip() for name in listed)
    return named and len(set(listed)) == len(listed)


def _lists_of_names(value: Any) -> Any:
    if isinstance(value, str) and "," not in value:
        value = [value]
    lists = value.values() if isinstance(value, Mapping) else [value]
    if value is not None and not (lists and all(map(_names_something, lists))):
        raise ValueError(
            'write a list of strategies, like ["range", "roundrobin"], or a table of such lists by pattern of '
            "client id, host or instance id; each strategy once"
        )
    return value


def _plain_data(value: Any) -> Any:
    """Values that JSON and every reader of it know."""
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"write a table of tables by {_PATTERNS}")
    for pattern, data in (value or {}).items():
        if not isinstance(data, Mapping):
            raise ValueError(f"{pattern!r} is no table; write one by {_PATTERNS}")
        for name, one in data.items():
            if not (isinstance(one, str | int) or (isinstance(one, float) and math.isfinite(one))):
                raise ValueError(
                    f"{name} of {pattern!r} must be text, a finite number, true or false"
                )
    return value


class Rule(Strict):
    """
    What is known of some groups that the wire does not tell. Later rules override earlier ones, key by key.

    Attributes:
        groups: Shell pattern of group ids.
        clusters: Shell pattern of cluster names.
        auto_offset_reset: The group's `auto.offset.reset`. Without it, the lag of a partition without a commit is
            unknown.
        isolation: The lag of `read_committed` groups is measured against the last stable offset.
        capacity_per_second: Records/s that one member can process.
        lag_slo_seconds: Lag SLO: how far behind a group may be, beyond its commit interval. Default: 60.
        commit_interval_seconds: Time between two commits of a group. Without it, evenkeel measures it.
        bytes_per_record: Average record size in bytes as stored, for topics whose size the brokers' log directories
            don't show.
        price_per_gb: Cost of 10^9 bytes read across racks, both directions together, in *currency*.
        currency: Currency of all costs, as three letters (ISO 4217).
        assignors: The members' `partition.assignment.strategy`, most preferred first: one list for all members, or a
            table of shell patterns of client id, host or instance id to lists (the first match counts). Use protocol
            names or Kafka's class names.
        client: Client library of the members, if client ids don't show it: `java`, `librdkafka`, `kafka-python` or
            `franz-go`. The leader assigns with its own library's code.
        client_version: Version of that library, like `3.9`. `evenkeel readiness` compares it.
        owner: Team that owns the group. Messages name it.
        mention: Who is mentioned in incidents: `@here`, `@channel`, or the member id of a person (`U...`, `W...`) or a
            user group (`S...`).
        channel: Slack channel, instead of the default one.
        racks: Table of shell patterns of client id or host, or networks like `10.0.1.0/24`, to racks. It applies to
            members whose rack Kafka doesn't expose; the first match counts.
        members: Table of shell patterns of client id, host or instance id to member data for custom strategies: any
            names and plain values. All matching patterns apply; later ones override earlier ones, name by name.
        streams: Settings of Kafka Streams applications.
        policy: When a switch is recommended.
        incidents: When a problem of a group opens an incident, and when the incident is resolved.
    """

    groups: str = "*"
    clusters: str = "*"
    auto_offset_reset: Annotated[str, AfterValidator(known_reset)] | None = None
    isolation: Literal["read_committed", "read_uncommitted"] | None = None
    capacity_per_second: float | None = Field(default=None, gt=0)
    lag_slo_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    commit_interval_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    bytes_per_record: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    price_per_gb: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    currency: Annotated[str, AfterValidator(_three_letters)] = "USD"
    assignors: Annotated[Assignors | None, BeforeValidator(_lists_of_names)] = None
    client: Literal["java", "librdkafka", "kafka-python", "franz-go"] | None = None
    client_version: Annotated[str, AfterValidator(_a_version)] | None = None
    owner: str | None = None
    mention: Annotated[str, AfterValidator(_somebody)] | None = None
    channel: str | None = None
    racks: dict[str, str] | None = None
    members: Annotated[dict[str, MemberData] | None, BeforeValidator(_plain_data)] = None
    streams: StreamsSettings | None = None
    policy: Policy | None = None
    incidents: IncidentRules | None = None

    @property
    def version_of_client(self) -> tuple[int, ...] | None:
        """
        *client_version* as numbers.

        >>> Rule(client_version="2.12.1").version_of_client
        (2, 12, 1)
        """
        told = self.client_version
        return None if told is None else tuple(map(int, told.split(".")))

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
