"""
Prose in Markdown: hand-written words, sentences, and the terms that the style forbids.

`python -m tests.helpers.prose FILE...` prints the words of each file, and every sentence and term to rewrite.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

LONGEST_SENTENCE = 30
"""Words of a sentence in user documentation, at most."""

MOST_WORDS = 22_000
"""Hand-written words of all documents, at most."""

_AMERICAN = "American spelling"

PROSE_TERMS: Mapping[str, str] = {
    r"\b(tell|tells|told|telling)\b": "notify, alert, report, show, print",
    r"\bit is said\b|\bsays why\b": "shown, printed, reported, logged",
    r"\b(nobody|somebody|everybody|whoever|anybody)\b": "the actor: evenkeel, the broker, the consumer, you",
    r"\bcan not\b": "cannot",
    r"\b(take|takes|taken|took) up\b(?! to)": "adopt, apply, process",
    r"\b(would pay|pays)\b": "would help, is worth it, is recommended",
    r"\bon the wire\b": "exposed by the Kafka protocol",
    r"\bplain form\b": "local mode",
    r"\bupkeep\b": "maintenance",
    r"\banew\b": "again",
    r"\bbesides\b": "also",
    r"\b(mend|mends|mended)\b": "fix",
    r"\bdear\b": "expensive",
    r"\bthe matter\b": "the problem",
    r"\bfares?\b": "performs",
    r"\b(not|is|are|get|gets|were|was) well\b(?![ -](known|defined|formed|tested))": "healthy",
    r"\bwell again\b|\bgets? ill\b|\bsick\b": "healthy, unhealthy, recovered",
    r"\bcomes? and goes?\b|\bcame back\b": "flapping, returned",
    r"\bwhat was so already\b": "pre-existing",
    r"\bdead band\b": "hysteresis",
    r"\bdouble bounce\b": "two rolling restarts",
    r"\b(change|changes|changed) hands\b": "is reassigned",
    r"\b(give|gives|given|gave) up\b": "is revoked",
    r"\b(stand|stands|stood) still\b": "pauses",
    r"\bin motion\b": "rebalancing",
    r"\boffset-seconds\b": "lag-seconds",
    r"\bhe?ld to (its|account|his)\b": "forecast accuracy, actual value",
    r"\b(hold|holds|held) up\b": "delay",
    r"\bat (a glance|first sight)\b": "in the quick check",
    r"\b(overtaken|yardstick|vanished)\b": "superseded, baseline, deleted",
    r"\bwithheld\b": "skipped by validation",
    r"\bwhose turn\b": "delivery order",
    r"\b(not|be|is|are) judged\b": "evaluated",
    r"\bgot by\b": "deployment, requires",
    r"\b(behaviour|colour|favour|licence|judgement|neighbour|honour|labour|artefact|centre|defence)\w*": _AMERICAN,
    r"\b(analys|catalogu|cancell|labell|modell|travell)(e|es|ed|ing)\b": _AMERICAN,
    r"\b\w+(?:al|ar|gan|gn|il|m|n|or|it)is(?:e|es|ed|ing|ations?)\b": _AMERICAN,
}
"""A term of former prose, as a pattern, and what to write in its place."""

_ANY_TERM = re.compile("|".join(PROSE_TERMS), re.IGNORECASE)

_SPELT_SO = re.compile(r"(com)?promis(e|es|ed|ing)|premises?")
"""What ends like a British word and is none."""

_TEMPLATED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
"""What a template fills in."""

_ITEM = re.compile(r" *([-*+]|\d+\.) +")
_CELL = re.compile(r"(?<!\\)\|")
_MADE = re.compile(r"<!-- made: [\w ]+ -->\n.*?<!-- end -->", re.DOTALL)


def by_hand(text: str) -> str:
    """A page without what is generated into it."""
    return _MADE.sub("", text)


def words(text: str) -> int:
    """Hand-written words of a page, code included; marks of Markdown are none."""
    return len(re.findall(r"\S*\w\S*", by_hand(text)))


def prose(text: str) -> Iterator[tuple[int, str]]:
    """
    What people read of a page, with its line: paragraphs, items, headings and cells; code and made tables left out.

    >>> list(prose("# Lag\\n\\nOne\\ntwo.\\n* a\\n\\n    ls\\n\\n| b | c |"))
    [(1, 'Lag'), (3, 'One two.'), (5, 'a'), (7, 'ls'), (9, 'b'), (9, 'c')]
    """
    begun, lines = 0, list[str]()
    for number, kind, content in [*_lines(text), (0, "break", "")]:
        if kind != "text" and lines:
            yield begun, " ".join(lines)
            lines.clear()
        if kind == "alone":
            yield number, content
        elif content:
            begun = begun if lines else number
            lines.append(content)


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Number, kind and content of each line: `alone`, the `item` or `text` of a paragraph, or the `break` after one."""
    made = fenced = False
    kind, inside = "break", 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped, fence = line.strip(), line.lstrip().startswith("```")
        made |= stripped.startswith("<!-- made:")
        fenced ^= fence
        if made or fenced or fence:
            kind, made = "break", made and stripped != "<!-- end -->"
            yield number, kind, ""
            continue
        indent = len(line) - len(line.lstrip())
        if item := _ITEM.match(line):
            inside = item.end()
        elif stripped and not indent:
            inside = 0
        kind = _kind(stripped, code=kind == "break" and indent >= inside + 4, item=bool(item))
        for content in _contents(stripped, kind):
            yield number, kind, content


def _kind(stripped: str, *, code: bool, item: bool) -> str:
    if not stripped or code or stripped.startswith(("<", "---")):
        return "break"
    if stripped.startswith(("|", "#")):
        return "alone"
    return "item" if item else "text"


def _contents(stripped: str, kind: str) -> list[str]:
    if kind == "break":
        return [""]
    if stripped.startswith("|"):
        cells = (cell.strip() for cell in _CELL.split(stripped.strip("|")))
        return [cell for cell in cells if cell.strip("-: ")]
    return [_ITEM.sub("", stripped, 1) if kind == "item" else stripped.lstrip("# ")]


def sentences(paragraph: str) -> list[str]:
    """A paragraph's sentences; a link counts as its text, a piece of code as one word."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "Code", paragraph))
    return [each for each in _BETWEEN.split(plain) if each]


_BETWEEN = re.compile(
    r"(?<=[.!?:])[)\"*]*\s+(?=[A-Z\"*(]|(?:evenkeel|librdkafka|kafka-python|franz-go)\b)"
)


def too_long(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a page that are longer than a reader takes at once, with the line of their paragraph."""
    for number, paragraph in prose(text):
        for sentence in sentences(paragraph):
            if len(sentence.split()) > LONGEST_SENTENCE:
                yield number, sentence


def former(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, term and replacement of each term that the style forbids in a page."""
    yield from _terms(prose(text))


def shown(path: Path) -> Iterator[tuple[int, str]]:
    """What a file shows to people, with its line: strings of Python, comments of SQL, all of a template or a sample."""
    text = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".py":
            yield from _strings(ast.parse(text))
        case ".sql":
            yield from ((n, each) for n, each in enumerate(text.splitlines(), 1) if "--" in each)
        case _:
            yield from enumerate(_TEMPLATED.sub("", text).splitlines(), 1)


def former_shown(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, term and replacement of each term that the style forbids in what a file shows."""
    yield from _terms(shown(path))


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings of several words but docstrings."""
    bodies = (getattr(node, "body", None) for node in ast.walk(tree))
    alone = {
        each.value
        for body in bodies
        if isinstance(body, list)
        for each in body
        if isinstance(each, ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in alone and " " in str(node.value).strip():
            yield node.lineno, str(node.value)


def _terms(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    for number, line in lines:
        if not _ANY_TERM.search(line):
            continue
        plain = re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)
        for pattern, new in PROSE_TERMS.items():
            for found in re.finditer(pattern, plain, re.IGNORECASE):
                if not _SPELT_SO.fullmatch(found[0].lower()):
                    yield number, found[0], new


def _main(files: list[str]) -> None:
    for name in files:
        text = Path(name).read_text(encoding="utf-8")
        print(f"{name}: {words(text):,} words by hand")
        for number, sentence in too_long(text):
            print(f"  {number}: {len(sentence.split())} words: {sentence}")
        for number, term, new in former(text):
            print(f"  {number}: {term!r}: write {new}")


if __name__ == "__main__":
    _main(sys.argv[1:])
