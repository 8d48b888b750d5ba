"""
The tables of the documents that are made from the code: `python -m tests.helpers.made_tables` writes them again.

A page says where one belongs by a comment, and the table is between it and the next:

    <!-- made: configuration -->
    <!-- end -->

What a configuration key means is its line under `Attributes:` in the docstring of its model; what a table, a view or
a query of the history is, its comment there.
"""

from __future__ import annotations

import dataclasses
import enum
import html
import inspect
import itertools
import json
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from evenkeel import sql
from evenkeel.engine.adapters.prometheus import MetricsPage
from evenkeel.engine.config import (
    ClusterSettings,
    Filter,
    IncidentRules,
    MaintenanceWindow,
    Policy,
    Rule,
    Settings,
    StreamsSettings,
    Webhook,
)
from evenkeel.engine.model.columns import columns_of
from evenkeel.engine.model.text import slug
from evenkeel.engine.records import kind_of
from evenkeel.engine.records.tables import METADATA
from evenkeel.engine.snapshots import RECORDS
from tests.benchmarks import kept
from tests.benchmarks.clusters import results as clusters
from tests.benchmarks.landau import results as landau
from tests.corpus import compared as corpus
from tests.corpus.truth import PARTS
from tests.helpers import cookbook, made_pages, site
from tests.helpers.fluid import ledger
from tests.helpers.made_schema import schema
from tests.helpers.view_samples import page as columns_page
from tests.helpers.view_samples import public
from tests.supply.bundled import BUNDLED
from tests.tiers import PROGRAMS, TIERS
from tests.twins import results as twins

ROOT = Path(__file__).parents[2]

SCHEMA = ROOT / "sql" / "schema.sql"
"""The schema as people read it."""

LLMS = ROOT / "docs" / site.LLMS
"""The index of the pages as agents read it."""

MODELS: Mapping[str, type[BaseModel]] = {
    "settings": Settings,
    "clusters": ClusterSettings,
    "filter": Filter,
    "rules": Rule,
    "policy": Policy,
    "incidents": IncidentRules,
    "streams": StreamsSettings,
    "webhooks": Webhook,
    "maintenance": MaintenanceWindow,
}
"""The models of the configuration by the name of their table."""

COMMON: Mapping[type[BaseModel], Sequence[str]] = {
    Settings: ("lake", "slack_channel"),
    ClusterSettings: ("bootstrap", "properties", "groups"),
    Rule: ("auto_offset_reset", "lag_slo_seconds", "owner", "mention", "price_per_gb"),
}
"""The keys that people set first, by the model that has them."""

TWO = ("slow-member", "skewed-load")
SIX = ("empty-with-commits", "hot-partition", "racks-avoidable", "racks-ignored", *TWO)
"""The groups of which pages show what `advise` prints."""

_LONGEST = 30
"""Characters of a default beyond which its key's meaning has to say it."""

_MADE = re.compile(r"(<!-- made: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def written() -> list[Path]:
    """The pages at the top, those of `docs`, and the README of every room."""
    folders = [each for each in ROOT.glob("[!._]*") if each.is_dir()]
    rooms = [page for folder in folders for page in folder.rglob("README.md")]
    top = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    return [*top, *sorted({*(ROOT / "docs").rglob("*.md"), *rooms})]


def renewed(text: str) -> str:
    """A page with its tables as the code has them now."""
    return _MADE.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n{found[3]}", text)


def meanings(model: type) -> dict[str, str]:
    """
    What each key of a model means, from the `Attributes:` of its docstring, as one line of Markdown.

    >>> meanings(Filter)["deny"]
    'Shell patterns of names to leave out; it overrides `allow`.'
    """
    _, _, attributes = (inspect.getdoc(model) or "").partition("Attributes:\n")
    lines = re.findall(r"^ {4}([\w, ]+): (.*(?:\n {8}.*)*)", attributes, re.MULTILINE)
    return {
        name: re.sub(r"\*(\w+)\*", r"`\1`", " ".join(text.split()))
        for names, text in lines
        for name in names.split(", ")
    }


def kind(field: FieldInfo) -> str:
    """
    The type of a key and its range, in words.

    >>> kind(Policy.model_fields["mute_misses"]), kind(Policy.model_fields["lag_gain"])
    ('whole number, at least 1', 'number, at least 0, at most 1')
    """
    said = [_word(field.annotation)]
    for limit in field.metadata:
        for name, words in (("ge", "at least"), ("gt", "above"), ("le", "at most")):
            if hasattr(limit, name):
                said.append(f"{words} {getattr(limit, name)}")
    return ", ".join(said)


_WORDS = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "`true` or `false`",
    datetime: "time",
    timedelta: "text",
}


def _one_of(values: Iterable[Any]) -> str:
    *most, last = (f"`{each}`" for each in values)
    return f"{', '.join(most)} or {last}" if most else last


def _word(annotation: Any) -> str:
    inside = typing.get_args(annotation)
    match typing.get_origin(annotation):
        case typing.Annotated:
            return _word(inside[0])
        case types.UnionType | typing.Union:
            several = [each for each in inside if each is not type(None)]
            if set(several) <= _WORDS.keys() and len(several) > 1:
                return "text, number, `true` or `false`"
            return ", or ".join(map(_word, several))
        case typing.Literal:
            *most, last = (f"`{each}`" for each in inside)
            return f"{', '.join(most)} or {last}" if most else last
        case origin if origin is tuple:
            return f"list of {_plural(_word(inside[0]))}"
        case origin if origin is dict:
            return f"table of {_plural(_word(inside[1]))}"
    if annotation is SecretStr:
        return "secret text"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _one_of([each.value for each in annotation])
    return _WORDS[annotation]


def _plural(word: str) -> str:
    head, space, rest = word.partition(" ")
    if word == "text" or word.startswith("`"):
        return "texts" if word == "text" else word
    return f"{head}s{space}{rest}" if head in ("list", "table") else word


def default(field: FieldInfo) -> str:
    """A key's default as it would be written, or that there is none."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or value is PydanticUndefined:
        return "none"
    if isinstance(value, BaseModel):
        value = {key: getattr(value, key) for key in sorted(value.model_fields_set)}
    text = json.dumps(value)
    return "see meaning" if len(text) > _LONGEST else f"`{text}`"


def _keys(model: type[BaseModel]) -> str:
    meaning = meanings(model)
    return grid(
        ("key", "type", "default", "meaning"),
        [
            (f"`{name}`", kind(field), default(field), meaning[name])
            for name, field in ((f.alias or name, f) for name, f in model.model_fields.items())
        ],
    )


def _common() -> str:
    rows = [
        (f"`{name}`", _PLACES[model], default(model.model_fields[name]), meanings(model)[name])
        for model, names in COMMON.items()
        for name in names
    ]
    return grid(("key", "in", "default", "meaning"), rows)


_PLACES = {
    Settings: "top level",
    ClusterSettings: "`[clusters.NAME]`",
    Rule: "`[[rules]]`",
}


def grid(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def _queries() -> str:
    return grid(
        ("query", "question", "parameters"),
        [
            (_linked(q), _question(q.summary), ", ".join(map(_parameter, q.parameters)))
            for q in sql.queries().values()
        ],
    )


def _linked(query: sql.Statement) -> str:
    """The name of a query, as a link to its answer in the cookbook where it has one."""
    name = f"`{query.name}`"
    shown = any(each.query == query.name for each in cookbook.EXAMPLES)
    return f"[{name}](#{slug(_question(query.summary))})" if shown else name


def _question(summary: str) -> str:
    """The first sentence of a summary."""
    return re.split(r"(?<=[?.])\s", summary, maxsplit=1)[0]


def _parameter(one: sql.Parameter) -> str:
    if one.required:
        return f"`{one.name}` (required)"
    return f"`{one.name}`" if one.default is None else f"`{one.name}={one.default}`"


def _relations() -> str:
    rows = [(f"`{table.name}`", table.comment or "") for table in METADATA.tables.values()]
    return grid(("table", "row"), rows)


def _views() -> str:
    rows = [(f"[`{one}`](#{one})", _shown(sql.views()[one])) for one in public()]
    return grid(("view", "description"), rows)


def _view_pages() -> str:
    return "".join(
        f"\n## {one}\n\n{_head(sql.views()[one])}\n\n{columns_page(one)}" for one in public()
    )


def _head(text: str) -> str:
    """The first paragraph of the head of a view's file, without its marks of a comment."""
    lines = itertools.takewhile(lambda line: line.startswith("-- "), text.splitlines())
    return "\n".join(line.removeprefix("-- ") for line in lines)


def _shown(text: str) -> str:
    """The first sentence of the head of a view's file, as one line."""
    return _question(sql.head(text))


def _verbs() -> str:
    rows = [(f"[`{words}`](#{slug(words)})", what) for words, what in made_pages.verbs().items()]
    return grid(("verb", "description"), rows)


def _bundled() -> str:
    rows = [
        (
            f"[{one.name}]({one.home})",
            one.version,
            one.license,
            ", ".join(f"`{path}`" for path in one.files),
        )
        for one in BUNDLED
    ]
    return grid(("software", "version", "license", "files"), rows)


def _tiers() -> str:
    tests = [(f"`{t.name}`", t.purpose.removeprefix("needs ")) for t in TIERS]
    programs = [(f"`{t.name}`", f"nightly: {t.purpose}") for t in PROGRAMS]
    return grid(("tier", "needs"), [*tests, *programs])


def _served() -> str:
    # the labels of a family are known to itself alone
    rows = [
        (
            f"`{each.name}{'_total' * (each.type == 'counter')}`",
            ", ".join(f"`{label}`" for label in vars(each)["_labelnames"]),
            each.documentation,
        )
        for each in MetricsPage(0, 1).collect()
    ]
    return grid(("metric", "labels", "meaning"), rows)


def _advised(*groups: str) -> str:
    """The lines of some groups of what `advise` prints of the recording of the tests."""
    _, wide, *_ = (ROOT / "tests/data/advise.txt").read_text().split("\n\n")
    lines = [line for line in wide.splitlines() if line.split()[0] in ("GROUP", *groups)]
    return "```\n" + "\n".join(lines) + "\n```\n"


def _top() -> str:
    """The first screen of `top`."""
    _, first, *_ = (ROOT / "tests/data/top.txt").read_text().split("=== ")
    return f"```\n{first.partition(chr(10))[2]}```\n"


def _message() -> str:
    """The first sample of a message, as Slack shows it to a person."""
    title, _, *lines = (ROOT / "tests/data/messages.txt").read_text().splitlines()[1:9]
    text = "\n".join([title, *(line.partition("| ")[2] for line in lines)])
    text = re.sub(r"<!subteam\^\w+>", "@payments-oncall", text)
    text = re.sub(r"<!date[^>]*? (\d\d:\d\d) UTC>", r"\1", text)
    text = re.sub(r"<[^>|]*\|([^>]*)>", r"\1", text)
    return f"```\n{html.unescape(text)}\n```\n"


def _recorded() -> str:
    rows = [
        (
            f"`{name}.{each.name}`",
            f"`{kind_of(each)}`",
            each.meaning.comment.replace("<", "&lt;"),
        )
        for name, record in RECORDS["snapshot"].items()
        for each in columns_of(record)
    ]
    return grid(("column", "type", "meaning"), rows)


def _truth() -> str:
    rows = [
        (f"`{where}{each.name}`", _json_word(str(each.type)), meanings(part)[each.name])
        for where, part in PARTS.items()
        for each in dataclasses.fields(part)
    ]
    return grid(("field", "type", "meaning"), rows)


def _json_word(annotation: str) -> str:
    kind = annotation.removesuffix(" | None").replace("int", "float")
    inside = {"Sequence[str]": "texts", "Sequence[float]": "numbers"}
    if kind.startswith("Sequence"):
        return f"list of {inside.get(kind, 'objects')}"
    return {"str": "text", "float": "number", "bool": "`true` or `false`"}[kind]


TABLES: Mapping[str, Callable[[], str]] = {
    **{name: (lambda model=model: _keys(model)) for name, model in MODELS.items()},
    "advised": lambda: _advised(*SIX),
    "advised two": lambda: _advised(*TWO),
    "bundled": _bundled,
    "common keys": _common,
    "commands": made_pages.commands,
    "diagnoses": made_pages.diagnoses,
    "cookbook": cookbook.chapter,
    "corpus columns": _recorded,
    "corpus compared": corpus.section,
    "corpus example": corpus.example,
    "corpus fields": _truth,
    "corpus files": corpus.files,
    "exit codes": made_pages.exit_codes,
    "landau": landau.section,
    "ledger": ledger.section,
    "many clusters": clusters.section,
    "message": _message,
    "top": _top,
    "pages": made_pages.pages,
    "queries": _queries,
    "served": _served,
    "strategy times": kept.section,
    "tables": _relations,
    "tiers": _tiers,
    "twins": twins.section,
    "verbs": _verbs,
    "views": _views,
    "view pages": _view_pages,
}
"""What makes each table, by its name."""


def main() -> None:
    """Write the tables of all pages again, then the index for agents, and the schema of the history database."""
    made = {page: renewed(page.read_text(encoding="utf-8")) for page in written()}
    for page, new in {**made, SCHEMA: schema(), LLMS: made_pages.llms()}.items():
        if new != page.read_text(encoding="utf-8"):
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
