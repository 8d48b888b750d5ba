"""Configuration: what wins, what is refused, and in which words."""

from __future__ import annotations

import copy
import pickle

import pytest

from evenkeel.engine.config import (
    SECRET_KEYS,
    ClusterSettings,
    Filter,
    Rule,
    Settings,
    group_rules,
    load,
)
from evenkeel.engine.model.errors import ConfigError


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write an evenkeel.toml and point EVENKEEL_CONFIG at it."""
    for name in ("LAKE", "DATABASE_URL", "SLACK_TOKEN", "SLACK_CHANNEL", "CLUSTERS"):
        monkeypatch.delenv(f"EVENKEEL_{name}", raising=False)
    monkeypatch.chdir(tmp_path)

    def writer(text):
        (tmp_path / "evenkeel.toml").write_text(text, encoding="utf-8")

    return writer


def test_without_a_file_the_defaults_hold(write):
    """A missing default file is no error."""
    assert load().lookback == 12


def test_environment_beats_connection_beats_file(write, monkeypatch):
    """Each level overrides the one below it, key by key."""
    write('lake = "from-file"\nslack_channel = "#file"\nlookback = 3\n')
    monkeypatch.setenv("EVENKEEL_LAKE", "from-environment")
    settings = load(connections={"lake": "from-connection", "slack_channel": "#connection"})

    assert ("from-environment", "#connection", 3) == (
        settings.lake,
        settings.slack_channel,
        settings.lookback,
    )


def test_a_connection_completes_a_cluster_of_the_file(write):
    """Nested values are joined: filters from the file, bootstrap and secrets from the connection."""
    write('[clusters.eu]\nbootstrap = "old:1"\ngroups = {deny = ["console-*"]}\n')
    connection = {
        "clusters": {"eu": {"bootstrap": "new:9092", "properties": {"sasl.password": "s3"}}}
    }
    cluster = load(connections=connection).cluster("eu")

    assert cluster.bootstrap == "new:9092"
    assert not cluster.groups.admits("console-consumer-1")
    assert "s3" not in repr(cluster)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("lookback = 0", "lookback"),
        ("lokback = 3", "lokback: no such key"),
        ("[[rules]]\npolicy = {deployment = 3}", "deployment: write a list"),
        ('[clusters.eu]\nbootstrap = "broker"', "clusters.eu.bootstrap: 'broker' is not host:port"),
        ('[clusters."EU West"]\nbootstrap = "b:1"', "clusters.EU West"),
        ('[[rules]]\nauto_offset_reset = "newest"', "rules.0.auto_offset_reset: use latest"),
        ("[[rules]]\npolicy = {lag_gain = 2}", "rules.0.policy.lag_gain"),
        ("[[rules]]\npolicy = {cost_gain = 0.009}", "rules.0.policy.cost_gain"),
        ("[[rules]]\npolicy = {hysteresis = 1.5}", "rules.0.policy.hysteresis"),
        ("[[rules]]\nincidents = {worse_factor = 1}", "rules.0.incidents.worse_factor"),
        ("digest_threshold = 0", "digest_threshold"),
        ("[[rules]]\nprice_per_gb = -1", "rules.0.price_per_gb"),
        ('[[rules]]\nmention = "@oncall"', "rules.0.mention: write @here, @channel, or the id"),
        ('[[rules]]\nmention = "<!channel>"', "rules.0.mention: write @here, @channel, or the id"),
        ("[[rules]]\nbytes_per_record = 0", "rules.0.bytes_per_record"),
        ('[[rules]]\ncurrency = "euro"', "rules.0.currency: write three capital letters, like EUR"),
        ("lake = ", "cannot be read"),
    ],
)
def test_a_bad_value_is_named(write, text, named):
    """The error holds the file, the key and what is wrong with it, on one line."""
    write(text)
    with pytest.raises(ConfigError) as caught:
        load()

    assert named in str(caught.value)
    assert "evenkeel.toml" in str(caught.value)
    assert "\n" not in str(caught.value).removesuffix("\n")


def test_several_bad_keys_are_told_at_once(write):
    """Nobody mends a file one error at a time."""
    write("lookback = 0\nkeep_days = 0\n")
    with pytest.raises(ConfigError, match=r"lookback.*keep_days"):
        load()


@pytest.mark.parametrize(
    "text",
    [
        'database_url = "postgresql://u:hunter2@h/db"',
        'slack_token = "xoxb-hunter2"',
        '[clusters.eu]\nbootstrap = "b:1"\n[clusters.eu.properties]\n"sasl.password" = "hunter2"',
    ],
)
def test_a_secret_in_the_file_is_refused_without_repeating_it(write, text):
    """Secrets come from connections or the environment."""
    write(text)
    with pytest.raises(ConfigError) as caught:
        load()

    assert "hunter2" not in str(caught.value)
    assert "environment variable" in str(caught.value)


@pytest.mark.parametrize("key", sorted(SECRET_KEYS))
def test_an_empty_variable_is_not_set(monkeypatch, key):
    """As compose files hand on what is not there; a connection counts, and without one there is no secret."""
    monkeypatch.setenv(f"EVENKEEL_{key.upper()}", "")
    given = load(connections={key: "https://from-connection"})

    assert getattr(given, key).get_secret_value() == "https://from-connection"
    assert getattr(load(), key) is None


def test_secrets_never_show_in_a_repr(write, monkeypatch):
    """Settings can be printed."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", "postgresql://u:hunter2@h/db")

    assert "hunter2" not in repr(load())


def test_a_named_file_that_is_missing_is_an_error(write, monkeypatch):
    """EVENKEEL_CONFIG pointing nowhere is a mistake, not a default."""
    monkeypatch.setenv("EVENKEEL_CONFIG", "nowhere.toml")
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load()


def test_an_unknown_cluster_lists_the_known_ones(write):
    """The fix says what to add."""
    write('[clusters.eu]\nbootstrap = "b:1"\n')
    with pytest.raises(ConfigError, match=r"configured: eu.*clusters\.us"):
        load().cluster("us")


def test_later_rules_override_earlier_ones_key_by_key(write):
    """A general rule and a special one complete each other."""
    write(
        '[[rules]]\nauto_offset_reset = "earliest"\nowner = "platform"\n'
        '[[rules]]\ngroups = "pay-*"\nclusters = "eu"\nowner = "payments"\n'
    )
    settings = load()
    special, other = settings.rule("eu", "pay-app"), settings.rule("us", "pay-app")

    assert ("payments", "earliest") == (special.owner, special.auto_offset_reset)
    assert other.owner == "platform"


def test_what_is_known_of_groups_is_worked_out_once(write, monkeypatch):
    """A thousand groups, each asked about many times, are a handful of kinds: as many rules are built, no more."""
    write(
        '[[rules]]\nowner = "platform"\n[[rules]]\ngroups = "pay-*"\nowner = "payments"\n'
        '[[rules]]\nclusters = "us"\nauto_offset_reset = "latest"\n'
    )
    settings = load()
    built = []
    monkeypatch.setattr(group_rules, "Rule", lambda **keys: built.append(keys) or Rule(**keys))
    for _ in range(3):
        for number in range(1000):
            assert settings.rule("eu", f"pay-{number}").owner == "payments"
            assert settings.policy("us", f"orders-{number}").confirm_evidence == 20

    assert len(built) == 2


def test_the_version_is_worked_out_once(monkeypatch):
    """Every row of every group is stored with it; other rules, and other numbers beside them, have their own."""
    settings = Settings(rules=(Rule(capacity_per_second=5),))
    read = []
    dump = Rule.model_dump
    monkeypatch.setattr(Rule, "model_dump", lambda *a, **k: read.append(a) or dump(*a, **k))

    assert len({settings.version for _ in range(1000)}) == len(read) == 1
    copies = [{"lookback": 3}, {"max_failed_share": 0.1}, {"rules": ()}]
    versions = {settings.model_copy(update=each).version for each in copies}
    assert len({settings.version, *versions}) == 4


def test_what_was_asked_of_settings_changes_nothing_about_them():
    """Equality, hash of the configuration, text and pickle are as before; a copy with other rules goes by those."""
    asked, fresh = (Settings(rules=(Rule(groups="a*", owner="one"),)) for _ in range(2))
    assert asked.rule("eu", "app").owner == "one"

    assert (asked, asked.version, repr(asked)) == (fresh, fresh.version, repr(fresh))
    assert b"app" not in pickle.dumps(asked)
    copied = asked.model_copy(update={"rules": (Rule(owner="two"),)})
    assert copied.rule("eu", "app").owner == "two"
    assert pickle.loads(pickle.dumps(copied)).rule("eu", "app").owner == "two"
    assert copy.deepcopy(asked).rule("eu", "app").owner == asked.rule("eu", "app").owner == "one"


def test_settings_that_remember_go_by_their_own_rules():
    """What was worked out for the settings below does not show through; what they say beats what is remembered."""
    settings = Settings(rules=(Rule(groups="a*", assignors=("range",)),))
    assert settings.rule("eu", "b").assignors is None
    told = settings.remembering([{"groups": "*", "assignors": ("sticky",)}])

    assert told.rule("eu", "b").assignors == ("sticky",)
    assert told.rule("eu", "a").assignors == ("range",)
    assert settings.rule("eu", "b").assignors is None


def test_the_version_changes_with_what_shapes_results_only(write):
    """A channel or an address is not part of the hash; a rule is."""
    base = load().version

    write('slack_channel = "#other"\n[clusters.eu]\nbootstrap = "b:1"\n')
    assert load().version == base
    write("[[rules]]\ncapacity_per_second = 5\n")
    assert load().version != base


@pytest.mark.parametrize(
    ("allow", "deny", "name", "admitted"),
    [
        ((), (), "any", True),
        (("pay-*",), (), "pay-app", True),
        (("pay-*",), (), "orders", False),
        (("*",), ("console-*",), "console-consumer-7", False),
    ],
)
def test_filters(allow, deny, name, admitted):
    """Deny beats allow; no allow list admits everything."""
    assert admitted is Filter(allow=allow, deny=deny).admits(name)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("clusters = 3\n", "clusters"),
        ('[clusters.eu]\nbootstrap = "b:1"\nproperties = 3\n', r"clusters\.eu\.properties"),
    ],
)
def test_a_value_where_a_table_belongs_is_named(write, text, named):
    """Looking for secrets does not stumble over a file of the wrong shape."""
    write(text)

    with pytest.raises(ConfigError, match=named):
        load()


def test_a_later_policy_overrides_an_earlier_one_key_by_key(write):
    """What a special rule does not mention stays as the general one has it."""
    write(
        "[[rules]]\npolicy = {lag_gain = 0.5, confirm_evidence = 40}\n"
        '[[rules]]\ngroups = "pay-*"\npolicy = {confirm_evidence = 1}\n'
    )
    policy = load().policy("eu", "pay-app")

    assert (policy.lag_gain, policy.confirm_evidence) == (0.5, 1)


def test_what_makes_an_incident_is_merged_key_by_key_and_shapes_no_result(write):
    """Special groups can have their own patience; stored results stay comparable."""
    write(
        "digest_threshold = 3\n[[rules]]\nincidents = {behind_seconds = 60, for_snapshots = 3}\n"
        '[[rules]]\ngroups = "pay-*"\nincidents = {for_snapshots = 1}\n'
    )
    settings = load()
    own, others = settings.incidents("eu", "pay-app"), settings.incidents("eu", "orders")

    assert (own.behind_seconds, own.for_snapshots, others.for_snapshots) == (60, 1, 3)
    assert settings.digest_threshold == 3
    write('[[rules]]\nowner = "x"\nmention = "@here"\nincidents = {enabled = false}\n')
    with_incidents = load().version
    write('[[rules]]\nowner = "x"\n')
    assert load().version == with_incidents


def test_an_oauth_endpoint_is_no_secret(write):
    """Only what must not be seen is refused in the file."""
    write(
        '[clusters.eu]\nbootstrap = "b:1"\n[clusters.eu.properties]\n'
        '"sasl.oauthbearer.token.endpoint.url" = "https://login.example/token"\n'
    )

    assert load().cluster("eu").properties


def test_what_members_list_is_told_for_all_or_by_pattern(write):
    """A list is every member's; a table keeps the order of its patterns, the first that fits counts."""
    write(
        '[[rules]]\nassignors = ["range", "CooperativeStickyAssignor"]\n'
        '[[rules]]\ngroups = "pay-*"\nassignors = {"web-*" = ["sticky", "range"], "*" = ["range"]}\n'
    )
    settings = load()
    own = settings.rule("eu", "pay-app").assignors

    assert settings.rule("eu", "orders").assignors == ("range", "CooperativeStickyAssignor")
    assert isinstance(own, dict)
    assert list(own.items()) == [("web-*", ("sticky", "range")), ("*", ("range",))]


@pytest.mark.parametrize(
    "listed",
    ["[]", "{}", '"range,sticky"', '["range", "range"]', '["range", " "]', '{"a" = []}', "[1]"],
)
def test_a_list_of_strategies_that_is_none_is_refused(write, listed):
    """Nothing listed, text for a list, a name twice: each is told how it is written."""
    write(f"[[rules]]\nassignors = {listed}\n")

    with pytest.raises(ConfigError, match=r"rules\.0\.assignors: write a list of strategies"):
        load()


MEMBERS = """
[[rules]]
groups = "pay-*"
[rules.members]
"*" = {weight = 1, zone = "a"}
"big-*" = {weight = 2.5}
"10.0.0.*" = {spare = true}
"host-7" = {weight = 9}
"""


@pytest.mark.parametrize(
    ("situation", "member", "data"),
    [
        ("any", ("app-1", "/10.1.0.1", None), {"weight": 1, "zone": "a"}),
        ("by client id", ("big-1", "/10.1.0.1", None), {"weight": 2.5, "zone": "a"}),
        ("by host", ("app", "/10.0.0.9", None), {"weight": 1, "zone": "a", "spare": True}),
        ("by instance id", ("app", "/10.1.0.1", "host-7"), {"weight": 9, "zone": "a"}),
        ("later over earlier", ("big-2", "10.0.0.1", "host-7"), {"weight": 9, "zone": "a", "spare": True}),
    ],
)  # fmt: skip
def test_members_get_data_by_every_pattern_that_fits(write, situation, member, data):
    """Client id, host and instance id are looked at; a later pattern overrides name by name."""
    write(MEMBERS)
    found = load().rule("eu", "pay-app").member_data(*member)

    assert found == data
    assert [type(value) for value in found.values()] == [type(value) for value in data.values()]


def test_members_of_no_rule_have_no_data(write):
    """Where nothing is configured, there is nothing to hand on."""
    write(MEMBERS)

    assert load().rule("eu", "orders").member_data("big-1", "/10.0.0.1", None) == {}


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ("3", r"rules\.0\.members: write a table of tables by pattern of client id"),
        ('{"app-*" = 3}', r"rules\.0\.members: 'app-\*' is no table.*weight = 2"),
        ('{"app-*" = {weight = [1]}}', r"rules\.0\.members: weight of 'app-\*' must be text, a finite"),
        ('{"app-*" = {since = 2026-01-01}}', r"since of 'app-\*' must be text"),
        ('{"app-*" = {a = 1, weight = inf}}', r"weight of 'app-\*' must be text, a finite number"),
    ],
)  # fmt: skip
def test_wrong_data_of_members_is_named_with_the_fix(write, members, named):
    """The error says where, what, and how it would be right."""
    write(f"[[rules]]\nmembers = {members}\n")

    with pytest.raises(ConfigError, match=named):
        load()


@pytest.mark.parametrize("key", ["members", "racks", "assignors"])
def test_the_order_of_patterns_is_part_of_the_version(key):
    """Which pattern counts depends on it, so results do."""
    one = {"members": {"w": 1}, "racks": "a", "assignors": ("range",)}[key]
    other = {"members": {"w": 2}, "racks": "b", "assignors": ("sticky",)}[key]
    tables = [{"a*": one, "*a": other}, {"*a": other, "a*": one}]
    first, second = (Settings(rules=(Rule(**{key: table}),)).version for table in tables)

    assert first != second


def test_data_of_members_is_part_of_the_version(write):
    """A strategy that reads a weight answers differently with another one."""
    write(MEMBERS)
    base = load().version
    write(MEMBERS.replace("2.5", "3.5"))

    assert load().version != base


@pytest.mark.parametrize(
    ("groups", "admitted"),
    [
        ("", ["orders", "pay-app"]),
        ("groups = {}", ["orders", "pay-app"]),
        ('groups = {allow = ["pay-*", "console-*"]}', ["pay-app"]),
        ("groups = {deny = []}", ["console-consumer-123", "orders", "pay-app", "pay-healthcheck"]),
        ('groups = {deny = ["pay-*"]}', ["console-consumer-123", "orders"]),
    ],
)
def test_passing_groups_are_left_out_unless_it_is_said_whom_to_deny(write, groups, admitted):
    """To allow some groups is not to ask for console consumers; a list of those to deny, even an empty one, is."""
    write(f'[clusters.eu]\nbootstrap = "b:1"\n{groups}\n')
    found = load().cluster("eu").groups

    names = ["console-consumer-123", "orders", "pay-app", "pay-healthcheck"]
    assert [name for name in names if found.admits(name)] == admitted
    assert load().cluster("eu").topics.admits("console-consumer-123")


@pytest.mark.parametrize("word", ["healthcheck", "health-check", "health_check"])
def test_a_health_check_is_one_by_a_word_of_its_name(word):
    """Alone, at the beginning, the end or in the middle; not where the word is part of another."""
    groups = ClusterSettings(bootstrap="b:9092").groups
    checks = [word, f"{word}-1", f"app-{word}", f"app-{word}-1"]

    assert not any(groups.admits(name) for name in checks)
    others = [f"{word}ers-orders", f"app-{word}er", f"un{word}", f"app-un{word}-1"]
    assert all(groups.admits(name) for name in others)


@pytest.mark.parametrize(
    ("deny", "names", "by"),
    [
        ("console-*", "console-consumer-1", "console-*"),
        ("console-*", "console-consumer-?", "console-*"),
        ("console-*", "console-*", "console-*"),
        ("console-*", "conso*", None),
        ("a?c", "abc", "a?c"),
        ("a?c", "a*c", None),
        ("*]b", "[a]b", None),
        ("a[*]", "a*", None),
    ],
)
def test_a_filter_says_which_of_its_patterns_leaves_names_out(deny, names, by):
    """Only where it leaves out every name that is meant."""
    assert Filter(deny=("x", deny)).denying(names) == by


def test_a_rack_comes_from_the_first_pattern_or_network_that_fits():
    """IPv6 networks too; what is neither a pattern that fits nor a network harms nothing."""
    rule = Rule(
        racks={"2001:db8::/32": "six", "10.0.0.0/8": "ten", "10.0.0.1": "never", "a/b": "x"}
    )

    assert rule.rack_of("c", "10.0.0.1") == "ten"
    assert rule.rack_of("c", "2001:db8::7") == "six"
    assert rule.rack_of("a/b", "some-host") == "x"
    assert rule.rack_of("c", "192.168.0.1") is None


@pytest.mark.parametrize("evidence", ["0.9", "inf", "nan"])
def test_evidence_that_no_snapshot_gives_is_refused(write, evidence):
    """A switch begins with 1, and never gets to infinity."""
    write(f"[[rules]]\npolicy = {{confirm_evidence = {evidence}}}\n")
    with pytest.raises(ConfigError, match="confirm_evidence"):
        load()
