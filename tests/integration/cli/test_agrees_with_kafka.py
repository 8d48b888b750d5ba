"""
`evenkeel lag` against Kafka's own command-line tool, row by row, on the workload's live groups.

Offsets move while both read, so ours is read before and after: a row that did not move in between has to agree
exactly, one that did has to lie between. Owners have to agree always.
"""

from __future__ import annotations

import pytest

from tests.helpers.group_tool import described
from tests.integration.cli.conftest import objects

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = pytest.mark.kafka

RESTLESS = "keeps-rebalancing"
OFFSETS = {"CURRENT-OFFSET": "committed", "LOG-END-OFFSET": "end", "LAG": "lag"}


def _number(printed):
    return None if printed == "-" else int(printed)


def test_every_row_of_the_tool_is_ours_with_the_same_numbers(run, workload):
    """
    Committed offset, end, lag, member, client and host of every partition the tool prints.

    What it leaves out is what nobody owns and nobody has committed.
    """

    def ours():
        rows = objects(run("lag", "--bootstrap", workload.bootstrap, "--json"))
        return {(row["group"], row["topic"], row["partition"]): row for row in rows}

    before = ours()
    others = (RESTLESS, "streams-kip1071", "share-queue")
    names = [n for n in workload.groups if not n.endswith(others)]
    printed = described(workload.bootstrap, *names)
    after = ours()

    for row in printed:
        key = (row["GROUP"], row["TOPIC"], int(row["PARTITION"]))
        first, last = before[key], after[key]
        assert last["member"] == (None if row["CONSUMER-ID"] == "-" else row["CONSUMER-ID"]), key
        assert last["host"] == (None if row["HOST"] == "-" else row["HOST"]), key
        assert last["client_id"] == (None if row["CLIENT-ID"] == "-" else row["CLIENT-ID"]), key
        still = all(first[ours] == last[ours] for ours in OFFSETS.values())
        for theirs, name in OFFSETS.items():
            told = _number(row[theirs])
            if still or told is None:
                assert told in (first[name], last[name]), (key, name)
            elif name != "lag":  # the first commit of all may fall between the two readings
                assert (first[name] or 0) <= told <= last[name], (key, name)
        if not still and None not in (first["committed"], _number(row["LAG"])):
            least, most = first["end"] - last["committed"], last["end"] - first["committed"]
            assert least <= int(row["LAG"]) <= most, key
    assert len(printed) > 50
    theirs = {(row["GROUP"], row["TOPIC"], int(row["PARTITION"])) for row in printed}
    more = {key for key in before.keys() & after.keys() if key[0] in names} - theirs
    assert {(after[k]["committed"], after[k]["member"]) for k in more} <= {(None, None)}, more
