"""The pages about diagnoses (`docs/diagnoses`) as HTML, in the style of the report; they load nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING

from ..model.text import slug
from .page import document

if TYPE_CHECKING:
    from markdown_it.token import Token

FOLDER = "diagnoses"
"""Where the Markdown files are, in the package."""

SUFFIX = ".md"

KEPT = 64
"""Pages that are rendered once."""


@lru_cache(maxsize=KEPT)
def diagnosis_page(name: str, home: str) -> str | None:
    """
    A page about a diagnosis; None where there is none of that name.

    Args:
        name: Of the page: `index`, `pipeline`, or a diagnosis with hyphens.
        home: Path of the pages, without a slash at its end: links between them lead there.
    """
    from markdown_it import MarkdownIt

    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name):
        return None
    package = __name__.partition(".")[0]
    file = resources.files(package) / FOLDER / f"{name}{SUFFIX}"
    if not file.is_file():
        return None
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = markdown.parse(file.read_text(encoding="utf-8"))
    title = _title(tokens) or name
    for token in tokens:
        token.children = _linked(token.children, home) if token.children else token.children
    ways = {} if name == "index" else {"All diagnoses": f"{home}/"}
    return document(title, markdown.renderer.render(tokens, markdown.options, {}), ways)


def _title(tokens: list[Token]) -> str | None:
    """The first heading, taken out; the others get the ids by which links find them."""
    title = None
    for opens, inline in pairwise(tokens):
        if opens.type == "heading_open":
            opens.attrSet("id", slug(inline.content))
            title = title or inline.content
    if tokens and tokens[0].tag == "h1":
        del tokens[:3]
    return title


def _linked(tokens: list[Token], home: str) -> list[Token]:
    """Links between these pages and to the web work; of any other the text is kept."""
    kept, dropped = [], []
    for token in tokens:
        if token.type == "link_open":
            address = _address(str(token.attrGet("href") or ""), home)
            dropped.append(address is None)
            if address is None:
                continue
            token.attrSet("href", address)
            if not address.startswith(("/", "#")):
                token.attrSet("target", "_blank")
                token.attrSet("rel", "noopener noreferrer")
        elif token.type == "link_close" and dropped.pop():
            continue
        kept.append(token)
    return kept


def _address(link: str, home: str) -> str | None:
    """
    Where a link of a file leads.

    >>> page = "data-loss" + SUFFIX
    >>> _address(f"{page}#fix", "/diagnoses"), _address("index" + SUFFIX, "/diagnoses"), _address("#fix", "")
    ('/diagnoses/data-loss/#fix', '/diagnoses/', '#fix')
    >>> _address("https://kafka.apache.org/", ""), _address("../reference/" + page, "")
    ('https://kafka.apache.org/', None)
    """
    if link.startswith(("https://", "http://", "#")):
        return link
    page = re.fullmatch(r"(?:\./)?([a-z0-9-]+)\.md(#[\w-]+)?", link)
    if page is None:
        return None
    place = "" if page[1] == "index" else f"{page[1]}/"
    return f"{home}/{place}{page[2] or ''}"
