"""`evenkeel query` and `evenkeel admin migrate`, up to the database's door."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime, timedelta

import pytest

from evenkeel import sql
from evenkeel.engine.adapters import postgres
from evenkeel.engine.cli.database import place
from evenkeel.engine.cli.views import plots
from evenkeel.engine.records import MemberMetrics, blank, columns_of_query
from tests.unit.cli.conftest import URL, objects


def test_without_a_name_all_queries_are_listed(run):
    """Each with what it answers and its parameters; no database is needed for that."""
    rows = objects(run("query", "--json"))
    assert [row["query"] for row in rows] == list(sql.queries())
    assert all(row["summary"] for row in rows)
    text = run("query").stdout
    assert all(name in text for name in sql.queries())
    assert "(group*, cluster" in text
    assert "limit=20" in text


def test_rows_are_a_table_with_units_of_their_own(run, history):
    """Numbers rounded or exact, shares in percent, seconds as spans, moments in UTC; null is ? or -."""
    lines = run("query", "scoreboard").stdout.splitlines()
    assert lines[1].split() == ["a", "1.23M", "25%", "5m", "yes", "2026-03-01", "00:00", "-", "x"]
    wide = run("query", "scoreboard", "--wide").stdout.splitlines()
    assert wide[1].split() == [
        "a",
        "1,234,567",
        "25%",
        "5",
        "min",
        "yes",
        "2026-03-01",
        "00:00:00",
        "-",
        "x",
    ]
    assert lines[2].split() == ["b", "?", "?", "never", "no", "-", "exact", "-"]


def test_json_rows_are_the_database_rows(run, history):
    """One object per row under the query's column names."""
    rows = objects(run("query", "scoreboard", "--json"))
    assert list(rows[0]) == list(history.rows[0])
    assert rows[0]["taken_at"] == "2026-03-01T00:00:00+00:00"
    assert rows[1]["drain_seconds"] == "Infinity"
    assert rows[1]["largest_member_lag"] is None


def test_csv_rows_are_the_json_rows(run, history):
    """The same columns and values; null is an empty field."""
    lines = run("query", "scoreboard", "--csv").stdout.splitlines()
    assert lines[0] == ",".join(history.rows[0])
    assert lines[1] == 'a,1234567,0.25,300.0,true,2026-03-01T00:00:00+00:00,,"[""x""]"'
    assert lines[2] == "b,,,Infinity,false,,exact,[]"


NULLS = (
    (
        "groups",
        {"total_lag": 0, "lag_skew": None, "members": 0, "cross_rack_share": None},
        "0 - 0 -",
    ),
    (
        "scoreboard",
        {"partition_spread": 1, "moves": 0, "drain_seconds": None, "proof": None},
        "1 0 ? -",
    ),
    ("scoreboard", {"leave_moves_mean": 8 / 3, "restart_moves": 1200}, "2.7 1,200"),
    ("cross_rack_cost", {"cheapest_strategy": None, "cheapest_share": None}, "- -"),
    ("cross_rack_cost", {"cheapest_strategy": "fair", "cheapest_share": None}, "fair ?"),
    ("snapshot_health", {"seconds_since_previous": None, "reading_seconds": None}, "- ?"),
)


@pytest.mark.parametrize(("name", "row", "shown"), NULLS)
def test_null_is_unknown_or_none_as_the_query_says(run, history, name, row, shown):
    """What is not there is no question mark, what is not known is one, whatever its type."""
    history.rows = (row,)
    cells = run("query", name).stdout.splitlines()[1].split()
    assert sorted(cells) == sorted(shown.split())


def test_people_see_short_names_of_members(run, history):
    """As every verb says them, by all members of the group; one that is gone keeps its id, and so do JSON and CSV."""
    old, new = (
        "app-0a1b2c3d-1111-2222-3333-444455556666",
        "app-0a1b2c3d-9999-8888-7777-666655554444",
    )
    row = {"topic": "t", "partition": 1234, "from_member": old, "to_member": None}
    history.rows = (row, row | {"from_member": "gone-1", "to_member": new})
    known = {"snapshot_id": "s", "cluster": "c", "group_id": "g", "client_id": "app"}
    history.members_of_groups_with = lambda ids: [
        blank(
            MemberMetrics,
            **known,
            **{"config_version": "", "identity": "", "partitions": 1},
            member_id=id,
            client_host=host,
        )
        for id, host in ((old, "/h1"), (new, "/h2"))
        if {old, new, "gone-1"} == set(ids)
    ]
    lines = run("query", "advised_moves", "--param", "group=g").stdout.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["Topic", "Part.", "From", "To"],
        ["t", "1234", "app", "at", "h1", "-"],
        ["t", "1234", "gone-1", "app", "at", "h2"],
    ]
    for form in ("--json", "--csv"):
        assert old in run("query", "advised_moves", "--param", "group=g", form).stdout


def test_a_pattern_asks_about_each_group_that_matches(run, history):
    """Also where a query takes one group; each row says which group it is of."""
    rows = objects(run("query", "advised_moves", "--param", "group=*", "--json"))
    assert history.asked[1:] == [("advised_moves", {"group": name}) for name in "ab"]
    assert [row["group_id"] for row in rows] == ["a", "b"] * 2


@pytest.mark.parametrize("pattern", ["x-*", "aa"])
def test_a_pattern_or_name_without_a_group_is_told(run, history, pattern):
    """No row of an existing group is another thing than no such group."""
    answered = history.query
    history.query = lambda name, **given: answered(name, **given) if name == "groups" else []
    result = run("query", "lag_history", "--param", f"group={pattern}")
    assert result.exit_code == 1
    assert f"no group '{pattern}' in the newest snapshots" in result.stderr
    none = run("query", "lag_history", "--param", "group=a")
    assert (none.exit_code, none.stderr.endswith("query lag_history found no row.\n")) == (1, True)


def test_parameters_go_to_the_query(run, history):
    """
    key=value; the value may hold an equals sign; a moment without a time zone is UTC whatever the database's, a span is
    that long ago.
    """
    run("query", "scoreboard", "--param", "group=a=b", "--param", "cluster=prod")
    assert history.asked == [("scoreboard", {"group": "a=b", "cluster": "prod"})]
    run("query", "churn", "--param", "until=2026-03-01 12:00")
    run("query", "churn", "--param", "until=2026-03-01T12:00+01:00")
    asked = [given["until"] for _, given in history.asked[1:]]
    assert asked == ["2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00+01:00"]
    run("query", "churn", "--param", "until=1h")
    run("query", "churn", "--param", "until=1d")
    later, earlier = (datetime.fromisoformat(given["until"]) for _, given in history.asked[3:])
    assert timedelta(hours=22) < later - earlier <= timedelta(hours=23)


def test_it_says_which_database_without_its_password(run, history):
    """Name, server and user, on standard error."""
    result = run("query", "scoreboard")
    told = "database: history on db.example.com:5433 as keel (EVENKEEL_DATABASE_URL)\n"
    assert result.stderr == told
    assert "hunter2" not in result.output


def test_the_demos_database_is_the_default(run, history, tmp_path, monkeypatch):
    """Below evenkeel's home in this folder, or where EVENKEEL_HOME says."""
    monkeypatch.delenv("EVENKEEL_DATABASE_URL")
    state = tmp_path / ".evenkeel" / "demo" / "state.json"
    state.parent.mkdir(parents=True)
    state.write_text(json.dumps({"database_url": "postgresql://me@127.0.0.1:1/demo"}))
    assert "demo on 127.0.0.1:1 as me (the demo's)" in run("query", "scoreboard").stderr
    assert history.url == "postgresql://me@127.0.0.1:1/demo"
    monkeypatch.setenv("EVENKEEL_HOME", str(tmp_path / "elsewhere"))
    assert run("query", "scoreboard").exit_code == 2


@pytest.mark.parametrize(
    "line",
    [
        "query groups",
        "admin migrate",
        "silence --group orders-* --for 2h --reason why",
        "alerts",
    ],
)
def test_without_any_database_it_says_how_to_get_one(run, line):
    """One line with both ways."""
    result = run(*line.split())
    assert result.exit_code == 2
    told = "no history database is configured, and there is no demo here. Set EVENKEEL_DATABASE_URL, or start one with"
    assert f"{told} `make demo`." in result.stderr


@pytest.mark.parametrize("content", ["", '{"other": 1}'])
def test_a_damaged_state_of_the_demo_is_refused_in_words(run, tmp_path, content):
    """A half-written state is no traceback."""
    state = tmp_path / ".evenkeel" / "demo" / "state.json"
    state.parent.mkdir(parents=True)
    state.write_text(content)
    result = run("query", "groups")
    assert result.exit_code == 2
    assert "names no database. Run `make demo` again." in result.stderr


def test_migrate_says_what_it_applied(run, monkeypatch):
    """A line per migration, or that there is nothing to do; a dry run applies nothing."""
    waiting, applied = ["0001_history", "0002_more"], []

    def migrate(url, tell):
        applied.extend(waiting)
        names, waiting[:] = list(waiting), []
        return names

    monkeypatch.setenv("EVENKEEL_DATABASE_URL", URL)
    monkeypatch.setattr(postgres, "pending", lambda url: list(waiting))
    monkeypatch.setattr(postgres, "migrate", migrate)
    dry = run("admin", "migrate", "--dry-run").stdout.splitlines()
    assert dry == ["would apply 0001_history", "would apply 0002_more"]
    assert applied == []
    assert run("admin", "migrate").stdout.splitlines() == [
        "applied 0001_history",
        "applied 0002_more",
    ]
    assert run("admin", "migrate").stdout == "nothing to apply: the schema is this version's\n"


@pytest.mark.parametrize("url", ["", "nonsense", "postgresql://h:port/x", "postgresql://u:p@[::/x"])
def test_a_strange_address_is_named_without_failing(url):
    """Whatever is configured, what is shown of it holds no secret and raises nothing."""
    assert "p@" not in place(url)


@pytest.mark.parametrize(
    "url",
    [
        "hunter2",
        "postgresql:app:hunter2@db/x",
        "postgres:/app:hunter2@db/x",
        "postgresql://a:1/hunter2@db/x",
    ],
)
def test_an_address_that_is_none_is_not_repeated(url):
    """What stands where in a malformed address nobody knows: any part of it may be the password."""
    assert place(url) == "an address that cannot be read"


LAGS = tuple(
    {
        "cluster": "prod",
        "group_id": group,
        "taken_at": datetime(2026, 3, 1, hour, tzinfo=UTC),
        "total_lag": lag,
        "time_lag_seconds": None if lag is None else lag / 10,
    }
    for group, lags in (("a$b$", (7, None, 9)), ("_b", (80_000, 70_000, None)))
    for hour, lag in enumerate(lags)
)


def drawn(rows):
    """The words of the picture of lag_history."""
    plot = sql.queries()["lag_history"].plot
    figure = plots.query_figure("lag_history", "How?", plot, rows)
    return [text.get_text() for text in figure.findobj(lambda part: hasattr(part, "get_text"))]


def test_a_picture_has_the_question_its_time_and_units(run, history, tmp_path):
    """Whatever groups are called; what all lines share stands in the title, what is unknown is said to be a gap."""
    history.rows = LAGS
    file = tmp_path / "lag.svg"
    result = run("query", "lag_history", "--param", "group=a", "--plot", str(file))
    assert result.exit_code == 0, result.output
    assert f"drawn: {file}" in result.stderr
    words = re.findall(r"<!-- (.*?) -->", file.read_text(encoding="utf-8"))
    assert "How did the lag of a group change from snapshot to snapshot?" in words
    assert "prod; 2026-03-01 00:00:00 UTC to 2026-03-01 02:00:00 UTC; gap: unknown" in words
    assert {"Lag (offsets)", "Time lag (h)", "time (UTC)", "a$b$", " _b"} <= set(words)


def test_a_picture_of_one_group_names_it_in_its_title():
    """A legend of one line says nothing more."""
    words = drawn(LAGS[:1])
    span = "prod · a$b$; 2026-03-01 00:00:00 UTC to 2026-03-01 00:00:00 UTC"
    assert any(span in word for word in words)
    assert words.count("a$b$") == 0


def test_the_highest_lines_are_drawn_and_the_others_counted():
    """Twelve can be told apart."""
    words = drawn([LAGS[0] | {"group_id": f"group-{n:02}", "total_lag": n} for n in range(20)])
    assert any(word.endswith("; the highest 12 of 20 lines") for word in words)
    assert {word for word in words if word.startswith("group-")} == {
        f"group-{n:02}" for n in range(8, 20)
    }


def test_the_unknown_is_a_gap_in_a_line():
    """Neither 0 nor a straight line between its neighbors; nor is there a height without end."""
    assert plots.heights(LAGS[:3], "total_lag") == [7, 9]
    plot = sql.queries()["lag_history"].plot
    lines = plots.lines_of(plot, LAGS)
    assert list(lines) == [("prod", "_b"), ("prod", "a$b$")]
    figure = plots.query_figure("lag_history", "How?", plot, LAGS)
    heights = [list(line.get_ydata()) for line in figure.axes[0].get_lines()]
    assert [[math.isnan(y) for y in one] for one in heights] == [
        [False, False, True],
        [False, True, False],
    ]


def test_a_time_without_rows_is_a_gap_too():
    """While nobody looked nothing is known: no line leads across; one that comes a little late is joined."""
    at = [datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (0, 1, 2, 4, 5, 9, 10)]
    rows = [{"at": moment, "lag": 1} for moment in at]
    moments, values = plots.course(rows, "at", "lag")
    assert [moment.hour for moment in moments] == [0, 1, 2, 4, 5, 6, 9, 10]
    assert [math.isnan(value) for value in values] == [False] * 5 + [True] + [False] * 2
    assert plots.course(rows[:1], "at", "lag") == ([at[0]], [1])


def test_the_highest_value_is_not_at_the_edge():
    """Whatever the distance of all of them from 0, which is always seen."""
    rows = [row | {"total_lag": 1_000_000 + n} for n, row in enumerate(LAGS[:3])]
    figure = plots.query_figure("lag_history", "How?", sql.queries()["lag_history"].plot, rows)
    low, high = figure.axes[0].get_ylim()
    assert low == 0
    assert high > 1_040_000


def test_a_plot_is_of_columns_that_its_query_has():
    """Numbers over a moment; a line per name."""
    plots = {name: each.plot for name, each in sql.queries().items() if each.plot}
    assert {"lag_history", "advice_age"} <= plots.keys()
    for name, plot in plots.items():
        declared = columns_of_query(name)
        assert declared[plot.over].kind is datetime
        assert {declared[value].kind for value in plot.values} <= {int, float}
        assert set(plot.lines) <= declared.keys()
