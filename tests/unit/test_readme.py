"""The documents against the code: a table, a key, a link or a command that is not there is a lie to its reader."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

import pytest
from typer.testing import CliRunner

from evenkeel import dags, sql
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.cli import app
from evenkeel.engine.cli.verbs import VERBS
from evenkeel.engine.config import Filter, Policy, Rule, load
from evenkeel.engine.model.text import slug
from tests.helpers import made_pages, made_tables, site
from tests.helpers.made_schema import schema
from tests.helpers.made_tables import MODELS, ROOT
from tests.supply import release

FRONT_DOOR = ROOT / "README.md"
LONGEST = 150
"""Lines of the front door."""

CONFIGURATION = "docs/reference/configuration.md"
PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in made_tables.written()]
ROOMS = "engine|dags|spark_tasks|expectations|sql|tests|docs"
EXAMPLES = ("widest_first", "count.py", "test_count.py")
"""What CONTRIBUTING.md shows how to make."""

TARGETS = set(
    re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _section(name: str, title: str) -> str:
    return _read(name).split(f"\n## {title}\n")[1].split("\n## ")[0]


def _blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", _read(name), re.DOTALL)


def _anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return set(map(slug, headings))


def test_the_front_door_is_short():
    """Who comes for the first time reads it to the end."""
    assert len(FRONT_DOOR.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_the_strategy_table_is_the_table_of_strategies():
    """Same names, same order."""
    rows = re.findall(r"^\| `([a-z_-]+)` \|", _read("docs/reference/strategies.md"), re.MULTILINE)

    assert rows == list(ASSIGNORS)


@pytest.mark.parametrize("page", PAGES)
def test_what_is_made_from_the_code_is_as_the_code_has_it_now(page: Path):
    """Configuration keys, verbs, queries and tables; `python -m tests.helpers.made_tables` writes them anew."""
    text = page.read_text(encoding="utf-8")

    assert text == made_tables.renewed(text)


def test_the_schema_for_readers_is_that_of_the_records():
    """`python -m tests.helpers.made_tables` writes it anew."""
    assert made_tables.SCHEMA.read_text(encoding="utf-8") == schema()


def test_the_index_for_agents_is_that_of_the_pages():
    """`python -m tests.helpers.made_tables` writes it anew; it has every page of the site but the home page."""
    text = made_tables.LLMS.read_text(encoding="utf-8")

    assert text == made_pages.llms()
    linked = {link.removeprefix("../") for link in re.findall(r"^- \[.*\]\((\S+)\)", text, re.M)}
    assert linked == {page for _, pages in site.sections() for page in pages} - {"index.md"}


@pytest.mark.parametrize("name", MODELS)
def test_every_configuration_key_is_documented(name: str):
    """The reference has each key, with its meaning."""
    documented, meant = _read(CONFIGURATION), made_tables.meanings(MODELS[name])
    keys = [field.alias or key for key, field in MODELS[name].model_fields.items()]

    assert [key for key in keys if f"| `{key}` |" not in documented] == []
    assert [key for key in keys if not meant.get(key)] == []


def test_a_key_is_told_with_its_type_range_default_and_meaning():
    """As they stand in the model and in its docstring."""
    assert made_tables.kind(Policy.model_fields["mute_misses"]) == "whole number, at least 1"
    assert made_tables.kind(Rule.model_fields["racks"]) == "table of texts"
    assert made_tables.default(Policy.model_fields["confirm_evidence"]) == "`20`"
    assert made_tables.default(Rule.model_fields["racks"]) == "none"
    assert made_tables.meanings(Filter)["deny"].endswith("it overrides `allow`.")


def test_the_configuration_examples_are_valid(tmp_path, monkeypatch):
    """They can be copied as they stand."""
    monkeypatch.delenv("EVENKEEL_CLUSTERS", raising=False)
    file = tmp_path / "evenkeel.toml"
    (shortest,) = _blocks("README.md", "toml")
    file.write_text(shortest.replace("\n   ", "\n"), encoding="utf-8")
    assert load(file).cluster("eu").bootstrap == "broker1:9092,broker2:9092"

    file.write_text(_blocks(CONFIGURATION, "toml")[0], encoding="utf-8")
    settings = load(file)
    assert settings.cluster("eu").groups.deny == ("console-consumer-*",)
    assert settings.policy("eu", "payments-app").confirm_evidence == 40


def test_the_cases_it_shows_are_answered_so(monkeypatch):
    """Among them one in which a member has sent a weight, and another's is configured."""
    shown = re.findall(
        r"^ {4}echo '(.*)' \| evenkeel assign(.*)\n\n```json\n(.*)\n```",
        _read("docs/reference/strategies.md") + _read("docs/how-to/write-a-strategy.md"),
        re.MULTILINE,
    )

    monkeypatch.setattr("evenkeel.engine.assignors._included", {})
    assert len(shown) > 1
    for case, options, answer in shown:
        command = ["assign", *options.replace(" tests/", f" {ROOT}/tests/").split()]
        assert CliRunner().invoke(app, command, input=case).stdout == f"{answer}\n"


def test_the_custom_strategy_it_shows_is_one_that_is_tested():
    """Line by line."""
    shown = _blocks("docs/how-to/write-a-strategy.md", "python")

    assert shown == [_read("tests/data/weighted_assignor.py")]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_it_names_exists(page: Path):
    """`evenkeel X` and `make X` can be typed; sketches in Python and the text of help are left out."""
    text = re.sub(r"```(python|text).*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"```sh\n(.*?)```", lambda code: indent(code[1], " " * 4), text, flags=re.DOTALL)
    typed = set(
        re.findall(
            r"(?:^ {4,}(?:.*\| |[A-Z_]+=\S+ )?|`)(?:\.venv/bin/)?evenkeel ([a-z-]+)", text, re.M
        )
    )
    made = set(re.findall(r"(?:^ {4}|`)(?:[A-Z]+=\S+ )?make ([a-z-]+)", text, re.M))

    assert typed <= set(VERBS)
    assert made <= TARGETS


def test_the_front_door_names_commands():
    """What holds for the commands it names holds for some."""
    text = FRONT_DOOR.read_text(encoding="utf-8")

    assert "make demo " in text
    assert "evenkeel advise --bootstrap" in text


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: Path):
    """To a file of the repository, and to a heading in it where one is named."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("https://"):
            continue
        path, _, mark = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (
            mark and target.suffix == ".md" and mark not in _anchors(target)
        ):
            broken.append(link)

    assert broken == []


@pytest.mark.parametrize("page", PAGES)
def test_every_file_it_names_exists(page: Path):
    """A path from the top of the repository; what CONTRIBUTING.md shows how to make is not there."""
    named = set(re.findall(rf"`((?:{ROOMS})/[\w./-]+)`", page.read_text(encoding="utf-8")))
    missing = [path for path in named if not (ROOT / path).exists()]

    assert [path for path in missing if not any(each in path for each in EXAMPLES)] == []


def test_every_document_that_is_cited_is_here():
    """In code, SQL and pages; what is not in the repository cannot be looked up by its reader."""
    suffixes = (".py", ".sql", ".toml", ".md")
    folders = [ROOT / room for room in ROOMS.split("|")]
    files = [f for folder in folders for f in folder.rglob("*") if f.suffix in suffixes]
    missing = [
        (str(file.relative_to(ROOT)), cited)
        for file in [*files, *ROOT.glob("*.md"), ROOT / "pyproject.toml"]
        if file.name != "test_site.py"  # its links are relative to pages
        for cited in re.findall(r"(?<![\w*/])[\w./-]+\.md\b", file.read_text(encoding="utf-8"))
        if cited != release.NOTES  # it is made
        and not any((place / cited).exists() for place in (ROOT, ROOT / "docs", file.parent))
    ]

    assert missing == []


def test_every_page_can_be_reached():
    """From the front door, link by link."""
    reached, waiting = set[Path](), [FRONT_DOOR]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        links = re.findall(r"\]\(([^)\s#]+\.md)[#)]", page.read_text(encoding="utf-8"))
        waiting += {(page.parent / link).resolve() for link in links if ":" not in link} - reached

    assert set(made_tables.written()) <= reached


def test_every_verb_of_the_command_line_is_in_the_changelog():
    """No verb is a secret."""
    assert [verb for verb in VERBS if f"`{verb}`" not in _read("CHANGELOG.md")] == []


def test_every_dag_is_told_of():
    """Name by name, in the order in which data flows."""
    rows = re.findall(
        r"^\| `(\w+)` \|", _section("docs/how-to/deploy-on-airflow.md", "The DAGs"), re.MULTILINE
    )

    assert rows == list(dags.NAMES)


def test_every_view_it_promises_exists():
    """The stable surface of the history database, with its columns."""
    page = _read("docs/reference/views.md")
    promised = re.findall(r"^\| \[`(\w+)`\]", page, re.MULTILINE)

    assert promised
    assert set(promised) <= set(sql.views())
    assert [view for view in promised if f"\n## {view}\n" not in page] == []


def test_every_verb_has_its_help_on_the_page_of_the_command_line():
    """In the order in which help lists them."""
    sections = re.findall(
        r"^Usage: evenkeel (.*?) \[", _read("docs/reference/cli.md"), re.MULTILINE
    )

    assert sections == list(made_pages.verbs())


def test_the_site_has_every_page_once():
    """Those of `docs`, and two of those at the top."""
    shown = [site.file_of(page) for _, pages in site.sections() for page in pages]
    there = [page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")]

    assert sorted(shown) == sorted([*there, *site.AT_THE_TOP])


def test_what_continuous_integration_runs_is_what_it_says():
    """`.ci/run` calls the README's test command and nothing weaker."""
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert "make test" in lines
    assert "make lint" in lines


def test_the_glossary_is_short_and_in_order():
    """At most fifty words, each once."""
    words = re.findall(r"^\| ([\w -]+) \|", _read("docs/reference/glossary.md"), re.MULTILINE)
    words = [word for word in words if word not in ("Term", "---")]

    assert 0 < len(words) <= 50
    assert words == sorted(set(words))


def test_the_license_is_the_one_that_is_named():
    """The text beside the name in `pyproject.toml`."""
    assert 'license = "Apache-2.0"' in _read("pyproject.toml")
    assert "Apache License\n                           Version 2.0" in _read("LICENSE")
