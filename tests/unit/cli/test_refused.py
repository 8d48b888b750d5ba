"""What a command refuses: one line that names what is wrong and what is right, before anything is read or asked."""

from __future__ import annotations

import shlex

import pytest

from evenkeel.engine import wiring
from tests.unit.cli.conftest import DATA, RECORDED, words_of

REFUSED = {
    # any verb
    "": {
        "nonsense": "No such command 'nonsense'.",
        "lag --nonsense": "No such option: --nonsense",
        "lag": "no cluster is given",
        "lag --bootstrap h:9092 --from x": "--bootstrap and --from exclude each other. Give one of them.",
        "lag --bootstrap no-port": "--bootstrap: ",
        "lag --cluster unheard-of": "cluster 'unheard-of' is not configured",
        "lag --from missing": "missing",
        "assign --repeat 0": "'--repeat'",
        "assign --repeat many": "'--repeat'",
    },
    "snapshot record": {
        "": "Missing option '--out'",
        "--out f --last 2": "--last",
        "--out f --lake x --samples 2": "--samples",
    },
    "admin pack": {
        "--out x.zip": "x.zip is no name that Spark unpacks. Let it end in .tar.gz.",
        "--python-prefix usr": "usr is no absolute path. Begin it with /.",
        "--with no-such-thing": "package 'no-such-thing' is not installed here.",
    },
    "query": {
        "nonsense": "there is no query 'nonsense'. Use one of ",
        "unheard-of": "there is no query 'unheard-of'. ",
        "scorebord": "there is no query 'scorebord'. Did you mean scoreboard?",
        "strategy_scoreboard": "is a view, not a query; it is shown by scoreboard and cross_rack_cost. Ask",
        "snapshot_health --param limit=2.5": "limit=2.5 is not a whole number from 0 to ",
        "snapshot_health --param limit=-1": "limit=-1 is not a whole number from 0 to ",
        "churn --param hours=abc": "hours=abc is not a number from 0 to 1,000,000 (double",
        "churn --param hours=inf": "Write for example --param hours=24.",
        "churn --param until=tomorrow": "until=tomorrow is no moment",
        "groups --json --csv": "--json and --csv exclude each other",
        "groups --param nonsense=1": "has no parameter 'nonsense' (it has cluster",
        "groups --param cluster": "is not KEY=VALUE",
        "advised_moves": "needs group. Add --param group=VALUE.",
        "groups --plot x.png": "query groups has no plot. Leave --plot out; those that",
        "lag_history --plot x.txt": "--plot x.txt is no picture",
        "--plot x.png": "--plot needs a query",
    },
    "elect": {
        "--member c1": "--member 'c1' is not ID=LIST",
        "--member c1=": "--member 'c1=' is not ID=LIST",
        "--member a=range --member a=sticky": "--member a is there twice",
        "--member a=range,range": "--member a: 'range' is listed twice",
        "--member a=range --assignors range": "--member makes up a group of its own",
        "--member a=range --to stiky": "--to: there is no strategy 'stiky'. Did you mean sticky? Known: range, ",
        "--member a=range --to live": "no member can be set to live",
        "--member a=range --to uniform": "cannot list 'uniform'",
        "--member a=range --to range+client.rack": "client.rack is a setting, not a strategy",
        "--group slow-member @ --assignors ,": "--assignors: a list of strategies",
        "--group slow-member @ --to stiky": "there is no strategy 'stiky'. Did you mean sticky? Known: range, ",
    },
    "explain --group balanced @": {
        "x --strategy range": "'x' is no partition. Name it as topic-number",
        "invoices-9 --strategy range": "group balanced doesn't read partition invoices-9. Choose a partition",
        "invoices-1 --strategy ballanced": "there is no strategy 'ballanced'. Did you mean balanced? Known: live, ",
    },
    "plan --group balanced @": {
        "--strategy ballanced": "there is no strategy 'ballanced'. Did you mean balanced? Known: live, ",
        "--strategy range --valid soon": "--valid: 'soon' is no span of time",
        "--strategy range --valid 30s": "a plan for 30 s ends before",
        "--strategy range --fallback fair": "Choose one of: cooperative-sticky",
        "--strategy range --fallback stickey": "--fallback: there is no strategy 'stickey'. Did you mean sticky",
        "--strategy range --out no/such/folder": "no/such/folder cannot be written",
    },
    "plan --group * @": {"--strategy range": "a plan is for one group, '*' matches 14. Name one: "},
    "advise @": {"--tradeoff": "--tradeoff is for one group, here are 14."},
    "backtest @ --group slow-member": {
        "--plot x.txt": "--plot x.txt is no picture",
        "--plot gone/x.png": "gone/x.png cannot be written",
    },
    "report": {
        "--database --without-racks": "keeps no assignments to replay. Give --from in place of --database.",
    },
    "report @": {
        "--group balanced --snapshots 1 --out gone/x.html": "--out",
        "--database": "--from and --database exclude each other. Give one of them.",
    },
    "whatif --group balanced @": {
        "--without balnced-1": "--without balnced-1: the group has no such member. Did you mean balanced-1",
        "--without zzz": "The members are balanced-1, balanced-2, balanced-3.",
        "--members 3": "Write for example +2 or -1.",
        "--members +0": "is no number of members",
        "--members +99999": "Use 10,000 at most.",
        "--members -3": "group balanced has 3 members: without 3 no member would be left.",
        "--without balanced-1 --members -2": "without 3 no member would be left",
        "--without-rack rack-x": "no member and no broker is in such a rack. Did you mean rack-",
        "--without-rack zzz": "The racks are rack-a, rack-b, rack-c.",
        "--without-rack rack-a --members +1 --rack new=rack-a": "--rack new=rack-a: rack rack-a is lost.",
        "--partitions invoice=9": "subscribes to no such topic. Did you mean invoices?",
        "--partitions zzz=9": "It subscribes to invoices.",
        "--partitions invoices=5": "topic invoices has 6 partitions, and Kafka takes none away. Use 6 or more.",
        "--partitions invoices=-5": "'-5' is no number of partitions",
        "--partitions invoices": "is not TOPIC=NUMBER. Write for example orders=24.",
        "--rack balanced-1": "is not MEMBER=RACK",
        "--rack balanced-1=": "is not MEMBER=RACK",
        "--rack new=a": "--rack new: no member joins. Let members join with --members +N.",
        "--rack new-2=a --members +1": "--rack new-2: new members are new-1.",
        "--rack new=a,,b --members +1": "has an empty rack",
        "--rack *=a,b": "--rack *=a,b: only new members are put into several racks",
        "--capacity balanced-1=x": "'x' is no number of offsets per second above 0",
        "--capacity balanced-1=0": "no number of offsets per second above 0",
        "--capacity balanced-1=inf": "no number of offsets per second above 0",
        "--capacity balanced-1=5 --without balanced-1": "the group has no such member",
        "--strategy stick": "Did you mean sticky?",
        "--strategy none": "there is no strategy 'none'",
        "--threads balanced-1=2": "group balanced is no Kafka Streams application",
        "--set num.standby.replicas=1": "group balanced is no Kafka Streams application",
    },
    "whatif --group streams-classic @": {
        "--without streams-clasic-1": "Did you mean streams-classic-1",
        "--members -2": "without 2 no member would be left",
        "--capacity *=5": "what instances of streams-classic can do decides nothing of its tasks",
        "--threads streams-classic-1=0": "'0' is no number of threads up to 10,000",
        "--threads new=2": "Let members join with --members +N",
        "--set num.standby.replica=1": "no such setting, the nearest is num_standby_replicas.",
        "--set num.standby.replicas=x": "valid integer",
        "--set rack.aware.assignment.strategy=near": "strategy 'near'. Known: none, min_traffic",
        "--set acceptable.recovery.lag": "is not SETTING=VALUE",
        "--partitions streams-classic-counts-repartition=9": "keeps stores of what it reads there",
        "--strategy range": "assigns tasks: there is no strategy 'range'. Known: none, min_traffic",
        "--strategy min_trafic": "there is no strategy 'min_trafic'. Did you mean min_traffic? Known: live, ",
    },
    "whatif --group streams-kip1071 @": {
        "--set rack.aware.assignment.strategy=none": "set streams.num.standby.replicas of the group.",
    },
    "check-assignor": {
        "Weighted": "there is no strategy 'Weighted'. Known: live, range, ",
        "nowhere.at_all:Weighted": "there is no module 'nowhere'",
        "nowhere.py:Weighted": "there is no file nowhere.py",
        "math:Weighted": "math has no Weighted; it has no class with a method assign.",
        "WEIGHTED:Wighted": "has no Wighted; it has Weighted.",
        "BROKEN:Half": "is no assignor: it has no works_on, needs, deployment, source, assign.",
        "BROKEN:NeedsArguments": "NeedsArguments cannot be made: TypeError",
        "BROKEN:Mute": "Mute does not describe itself: ValueError: it depends (broken_assignors.py:",
        "BROKEN:OddDeployment": "its deployment is 'setting'. It must be one of "
        "evenkeel.engine.assignors.interface.Deployment.",
        "BROKEN:OddPromises": "It must be a frozenset out of evenkeel.engine.assignors.interface.Promise.",
        "BROKEN:OddSamples": "its sample_user_data is 'weight'. It must be a tuple of mappings, one at least.",
        "WEIGHTED:Weighted --data 3": "is no JSON object. Write for example '{\"weight\": 3}'.",
        "WEIGHTED:Weighted --data {": "is no JSON object. Write for example '{\"weight\": 3}'.",
        "WEIGHTED:Weighted --data [1]": "is no JSON object. Write for example '{\"weight\": 3}'.",
    },
}
"""Command -> what follows -> what is said of it; `@` is the recording of the demo."""

NO_ANSWER = {
    "whatif --members +1 @": {
        "--group keeps-rebalancing": "rebalancing (CompletingRebalance)",
        "--group empty-with-commits": "no members (Empty)",
    },
}
"""The same of what is typed rightly, of groups of which nothing can be said: exit code 1."""

PLACES = {
    "BROKEN": str(DATA / "broken_assignors.py"),
    "WEIGHTED": str(DATA / "weighted_assignor.py"),
}


def cases():
    """Each command line with what it is told; what reads the recording or loads a class is slow."""
    tables = [(command, table, 2) for command, table in REFUSED.items()]
    tables += [(command, table, 1) for command, table in NO_ANSWER.items()]
    for command, table, code in tables:
        for rest, told in table.items():
            line = f"{command} {rest}".strip()
            slow = "@" in line or command in ("check-assignor", "admin pack")
            yield pytest.param(line, told, code, marks=[pytest.mark.slow] if slow else [], id=line)


@pytest.mark.parametrize(("line", "told", "code"), list(cases()))
def test_wrong_usage_is_an_exit_code_and_a_line_in_words(run, monkeypatch, line, told, code):
    """Nothing on standard output, no wall of usage, and no database is asked."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", "postgresql://h/history")
    monkeypatch.setattr(wiring, "history", lambda settings: 1 / 0)
    words = []
    for word in shlex.split(line):
        place, colon, name = word.partition(":")
        words += ["--from", RECORDED] if word == "@" else [PLACES.get(place, place) + colon + name]
    result = run(*words)
    assert (result.exit_code, result.stdout) == (code, "")
    said = result.stderr.splitlines()
    own = [line for line in said if not line.startswith(("local run", "looking at"))]
    assert own[0].startswith("evenkeel: ")
    assert len(own) <= 2
    assert told in words_of(result.stderr)
