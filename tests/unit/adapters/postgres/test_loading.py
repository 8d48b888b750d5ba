"""Arrow tables as text that Postgres copies."""

from __future__ import annotations

import json

import pyarrow as pa

from evenkeel.engine.adapters.postgres.loading import as_csv, as_json


def test_null_and_empty_text_stay_different() -> None:
    """Null is an unquoted nothing, an empty text is quoted."""
    assert as_csv(pa.table({"a": ["", None], "b": [1, None]})) == b'"",1\n,\n'


def test_lists_become_array_literals() -> None:
    """Texts in a list keep quotes, backslashes and commas; a null list is null, an empty one is not."""
    column = [['a"b', "c\\d", "e,f", None], [], None]
    lines = as_csv(pa.table({"a": column, "n": [1, 2, 3]})).decode().splitlines()
    assert lines[0] == '"{""a\\""b"",""c\\\\d"",""e,f"",NULL}",1'
    assert lines[1:] == ['"{}",2', ",3"]


def test_a_nul_in_a_name_is_replaced() -> None:
    """Postgres stores no NUL, and a client may have one in its name: it must not cost the whole snapshot."""
    assert "\x00" not in as_csv(pa.table({"a": ["x\x00y"]})).decode()
    text = as_json([{"a": "x\x00y", "b": "\\u0000"}])
    assert json.loads(text) == [{"a": "x\ufffdy", "b": "\\u0000"}]
