"""The site of the documents: links and lists as MkDocs reads them. `make docs` builds it; nothing here needs MkDocs."""

from __future__ import annotations

import pytest

from evenkeel.engine.model.text import slug
from tests.helpers.site import file_of, for_site


def read(*lines: str, page: str = "index.md") -> list[str]:
    """The lines of a page as MkDocs reads them."""
    return for_site("\n".join(lines), page).splitlines()


@pytest.mark.parametrize(
    ("page", "link", "shown"),
    [
        ("how-to/upgrade.md", "[a](../reference/cli.md#lag)", "[a](../reference/cli.md#lag)"),
        ("how-to/upgrade.md", "[a](#next)", "[a](#next)"),
        ("how-to/upgrade.md", "[a](https://kafka.apache.org/)", "[a](https://kafka.apache.org/)"),
        ("how-to/upgrade.md", "[a](../../CHANGELOG.md)", "[a](../CHANGELOG.md)"),
        ("how-to/upgrade.md", "[a](../../README.md)", "[a](../index.md)"),
        ("index.md", "![a](images/report.png#only-light)", "![a](images/report.png#only-light)"),
        ("CHANGELOG.md", "[a](docs/reference/views.md)", "[a](reference/views.md)"),
        ("CONTRIBUTING.md", "See [`a`](engine/__init__.py).", "See `a`."),
    ],
)
def test_a_link_leads_to_a_page_of_the_site(page: str, link: str, shown: str) -> None:
    """Of one that leads to another file of the repository its text remains."""
    assert read(link, page=page) == [shown]


def test_code_stays_as_it_is() -> None:
    """Nothing in it is a link or a list."""
    code = ["```", "[a](engine/__init__.py)", "1. b", "```"]
    assert read(*code) == code


def test_a_list_is_one_without_an_empty_line() -> None:
    """Python-Markdown takes it for text otherwise."""
    assert read("Two:", "* a", "* b") == ["Two:", "", "* a", "* b"]


def test_what_belongs_to_an_item_is_indented_by_four() -> None:
    """Text, code and lists in it; the next item after such a part needs an empty line."""
    page = [
        "1. a",
        "   more",
        "   * b",
        "",
        "   ```sh",
        "   ls",
        "     -l",
        "   ```",
        "2. c",
        "",
        "d",
    ]
    assert read(*page) == [
        *("1. a", "    more", "", "    * b", "", "    ```sh", "    ls", "      -l", "    ```"),
        *("", "2. c", "", "d"),
    ]


def test_indented_code_is_no_list() -> None:
    """Four spaces make it code."""
    code = ["Run:", "", "    - a", "    - b"]
    assert read(*code) == code


def test_a_page_at_the_top_has_its_place() -> None:
    """The others are in `docs`; an anchor is as GitHub makes it."""
    assert [file_of(page) for page in ("CHANGELOG.md", "index.md")] == [
        "CHANGELOG.md",
        "docs/index.md",
    ]
    assert slug("`[[rules]]`: who is told?") == "rules-who-is-told"
