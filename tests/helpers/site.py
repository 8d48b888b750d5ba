"""
The site of the documents: what MkDocs asks of this file, so that it shows pages that GitHub shows as they are.

`.mkdocs.yml` names it as a hook. It adds the two pages at the top of the repository, points links to where pages are
on the site, and indents lists as Python-Markdown reads them. Nothing of MkDocs is imported before MkDocs calls.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]

DOCS = "docs"
"""The folder of the pages."""

AT_THE_TOP = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Pages of the site that are at the top of the repository."""

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_ITEM = re.compile(r"( *)([-*+]|\d+\.) +")
_FENCE = re.compile(r" *```")


LLMS = "llms.txt"
"""The index of the pages for agents."""


def settings() -> dict[str, Any]:
    """What `.mkdocs.yml` says of the site."""
    return dict(yaml.safe_load((ROOT / ".mkdocs.yml").read_text(encoding="utf-8")))


def sections() -> Iterator[tuple[str, list[str]]]:
    """The sections of the navigation: title and pages, as paths from the folder of the pages."""
    for entry in settings()["nav"]:
        ((title, pages),) = entry.items()
        yield title, [pages] if isinstance(pages, str) else pages


def file_of(page: str) -> str:
    """
    The file of a page, as a path from the top of the repository.

    >>> file_of("CHANGELOG.md"), file_of("how-to/upgrade.md")
    ('CHANGELOG.md', 'docs/how-to/upgrade.md')
    """
    return page if page in AT_THE_TOP else f"{DOCS}/{page}"


def for_site(text: str, page: str) -> str:
    """A page of the repository as MkDocs reads it."""
    return "\n".join(_indented(_linked(text.splitlines(), page))) + "\n"


def _linked(lines: list[str], page: str) -> Iterator[str]:
    """
    Lines with links to pages of the site; of a link to another file its text remains.

    >>> list(_linked(["[a](docs/index.md#x), [`b`](engine/cli/cases.py)"], "CHANGELOG.md"))
    ['[a](index.md#x), `b`']
    """
    fenced = False
    for line in lines:
        fenced ^= bool(_FENCE.match(line))
        yield line if fenced else _LINK.sub(lambda found: _link(found, page), line)


def _link(found: re.Match[str], page: str) -> str:
    text, address = found[1], found[2]
    path, mark, anchor = address.partition("#")
    if ":" in address or not path:
        return found[0]
    place = posixpath.normpath(posixpath.join(posixpath.dirname(file_of(page)), path))
    if place == "README.md":
        place = file_of("index.md")
    if place not in AT_THE_TOP and not place.startswith(f"{DOCS}/"):
        return text
    there = posixpath.relpath(place.removeprefix(f"{DOCS}/"), posixpath.dirname(page) or ".")
    return f"[{text}]({there}{mark}{anchor})"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    """
    Lines whose lists begin after an empty line, and whose items indent what belongs to them by four spaces.

    >>> list(_indented(iter(["Two:", "1. a", "   more", "", "   ls", "2. b", "end"])))
    ['Two:', '', '1. a', '    more', '', '    ls', '', '2. b', 'end']
    """
    items, fenced, before, parted = list[int](), False, "", False
    for line in lines:
        if not line.strip():
            yield line
            before, parted = line, True
            continue
        indent = len(line) - len(line.lstrip())
        ended = None
        while items and not fenced and indent < items[-1]:
            ended = items.pop()
        outer = items[-1] if items else 0
        item = None if fenced else _ITEM.match(line)
        if item and len(item[1]) - outer < 4:
            if before.strip() and (parted if ended else not _ITEM.match(before)):
                yield ""
            yield f"{'    ' * len(items)}{item[2]} {line[item.end() :]}"
            items.append(item.end())
            parted = False
        else:
            yield "    " * len(items) + line[min(outer, indent) :]
        fenced ^= bool(_FENCE.match(line))
        before = line


def on_config(config: Any) -> Any:
    """Let headings have the anchors that they have on GitHub."""
    from pymdownx.slugs import slugify

    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages at the top of the repository."""
    from mkdocs.structure.files import File

    for name in AT_THE_TOP:
        content = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page as MkDocs reads it."""
    return for_site(markdown, page.file.src_uri)


def on_post_build(config: Any) -> None:
    """Put the index for agents and each page as Markdown beside the HTML."""
    for name in [LLMS, *(page for _, pages in sections() for page in pages)]:
        text = (ROOT / file_of(name)).read_text(encoding="utf-8")
        (Path(config.site_dir) / name).write_text(for_site(text, name), encoding="utf-8")
