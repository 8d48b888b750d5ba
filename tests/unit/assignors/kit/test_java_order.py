"""Java's hashes and orders, against values known by heart and a recording of JDK 17."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.kit.java_order import (
    bucket_order,
    capacity,
    map_order,
    sort_keys,
    string_hashes,
    string_order,
    utf16,
    uuid_halves,
    uuid_hashes,
    uuid_order,
)

RECORDED = json.loads((Path(__file__).parents[3] / "data" / "java_order.json").read_text())
"""Names with what `hashCode`, a grown HashMap, a copied HashSet and a TreeSet of JDK 17 made of them."""

recorded = pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{len(case['names'])} names")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("Aa", 2112),
        ("BB", 2112),
        ("polygenelubricants", -(2**31)),
        ("\U0001f600", 0xD83D * 31 + 0xDE00),
    ],
)
def test_a_string_hashes_as_in_java(name, expected):
    """A hash is the base-31 polynomial over UTF-16 code units in 32 bits, signed in Java."""
    assert string_hashes([name]).astype(np.int32).tolist() == [expected]


def test_no_names_have_no_hashes():
    """An empty table is walked without a step."""
    assert map_order([]).tolist() == []


@recorded
def test_hashes_equal_the_recording(case):
    """The JVM computed the same hash codes."""
    assert string_hashes(case["names"]).astype(np.int32).tolist() == case["hashes"]


@recorded
def test_a_grown_map_is_walked_as_recorded(case):
    """A HashMap that took its keys one by one is walked in the JVM's order."""
    assert map_order(case["names"]).tolist() == case["grown"]


@recorded
def test_a_copied_set_is_walked_as_recorded(case):
    """A HashSet made from a collection asks for its capacity at once, and may get twice as much."""
    asked = max(16, int(len(case["names"]) / 0.75) + 1)

    assert map_order(case["names"], asked).tolist() == case["copied"]


@recorded
def test_strings_sort_as_recorded(case):
    """Strings sort by UTF-16 code units, as a TreeSet does."""
    assert string_order(case["names"]).tolist() == case["sorted"]


@given(
    st.lists(
        st.tuples(
            st.text("ab", max_size=18), st.lists(st.text("\x01a\x7f", max_size=12), max_size=9)
        ),
        min_size=1,
        max_size=12,
    )
)
def test_many_lists_of_names_sort_each_by_itself(lists):
    """Names of a list begin alike, over several words of eight characters, and some are equal."""
    named = [[f"{begin}{rest}" for rest in each] for begin, each in lists]
    named += [[], ["a"] * 60, [f"member-{n:03}" for n in range(60)]]
    start = np.cumsum([0, *map(len, named)])
    whole = [name for each in named for name in each]

    expected = [
        place
        for first, end in pairwise(start.tolist())
        for place in sorted(range(first, end), key=whole.__getitem__)
    ]
    assert string_order(whole, start).tolist() == expected


@pytest.mark.parametrize(
    ("size", "expected"), [(0, 16), (12, 16), (13, 32), (24, 32), (25, 64), (1000, 2048)]
)
def test_a_table_grows_beyond_three_quarters(size, expected):
    """The capacity doubles when more than three quarters are taken, and never before."""
    assert capacity(size) == expected


@pytest.mark.parametrize(("asked", "expected"), [(1, 1), (16, 16), (17, 32), (33, 64)])
def test_an_asked_capacity_is_rounded_up(asked, expected):
    """An initial capacity becomes the next power of two."""
    assert capacity(0, initial=asked) == expected


def test_colliding_keys_stay_in_the_order_they_came():
    """Within a bucket the order of insertion shows."""
    assert map_order(["BB", "Aa"]).tolist() == map_order(["Aa", "BB"]).tolist() == [0, 1]


def test_the_upper_half_of_a_hash_counts():
    """Java folds the upper 16 bits into the lower before it picks the bucket."""
    assert bucket_order(np.array([3 << 16, 1], np.uint32), 16).tolist() == [1, 0]


def test_a_lone_surrogate_sorts_by_its_code_unit():
    """Half a character, which Java allows, neither raises nor sorts among the others."""
    assert sorted(["\ue000", "\ud800", "z"], key=utf16) == ["z", "\ud800", "\ue000"]


UUIDS = (
    ("00000000-0000-0000-0000-000000000000", 0),
    ("ffffffff-ffff-ffff-0000-000000000000", 0),
    ("00000000-0000-0001-0000-000000000000", 1),
    ("00000000-0000-0001-ffff-ffffffffffff", 1),
    ("00000000-0000-0001-0000-000000000001", 0),
    ("80000000-0000-0000-7fff-ffffffffffff", 0),
    ("bb0359bf-2d35-cb58-1698-1a439ca01ce0", 470717508),
    ("e2d48d48-516d-113a-38d5-18d15325bf38", -666289253),
)
"""Topic ids with what Kafka's `Uuid.hashCode` says of them."""


def test_topic_ids_hash_as_recorded():
    """All four quarters of an id are folded into one."""
    halves = uuid_halves([UUID(text) for text, _ in UUIDS])

    assert uuid_hashes(halves).astype(np.int32).tolist() == [expected for _, expected in UUIDS]


def test_topic_ids_sort_as_recorded():
    """A TreeSet of Kafka's ids has the negative ones first, by the upper half and then the lower."""
    halves = uuid_halves([UUID(text) for text, _ in UUIDS])

    assert uuid_order(halves).tolist() == [5, 6, 7, 1, 0, 3, 2, 4]


def test_no_topic_ids_have_no_order():
    """Nothing in, nothing out."""
    assert (uuid_hashes(uuid_halves([])).tolist(), uuid_order(uuid_halves([])).tolist()) == ([], [])


def test_names_of_all_lengths_hash_alone_as_together():
    """Names of one length are hashed at once; which others there are does not matter."""
    names = ["b" * n + "\U0001f600" * (n % 3) for n in range(40)] * 2

    assert string_hashes(names).tolist() == [int(string_hashes([n])[0]) for n in names]


def test_sort_keys_are_the_names_only_where_python_sorts_like_java():
    """One name beyond ASCII, and all are compared by UTF-16."""
    names = ["\uffee", "\U0001f600", "a"]

    assert sort_keys(["b", "a"]) == ["b", "a"]
    assert sorted(names, key=dict(zip(names, sort_keys(names), strict=True)).get) == [
        "a",
        "\U0001f600",
        "\uffee",
    ]
