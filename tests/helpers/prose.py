"""
Prose in Markdown: hand-written words, sentences, and the terms that the style forbids.

`python -m tests.helpers.prose FILE...` prints the words of each file, and every sentence and term to rewrite.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

LONGEST_SENTENCE = 30
"""Words of a sentence in user documentation, at most."""

PROSE_TERMS: Mapping[str, str] = {
    r"\b(tell|tells|told|telling)\b": "notify, alert, report, show, print",
    r"\bit is said\b|\bsays why\b": "shown, printed, reported, logged",
    r"\b(nobody|somebody|everybody|whoever|anybody)\b": "the actor: evenkeel, the broker, the consumer, you",
    r"\bcan not\b": "cannot",
    r"\b(take|takes|taken|took) up\b": "adopt, apply, process",
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
    r"\b(not|is|are|get|gets|were|was) well\b|\bwell again\b|\bgets? ill\b|\bsick\b": "healthy, unhealthy, recovered",
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
    r"\b(behaviour|colour|favour|licence|judgement|neighbour|honour)\w*": "American spelling",
    r"\b\w+(?:alise|alises|alised|mise|mised|ganise|ganised|nise|nised|ilise|ilised)\b": "American spelling",
}
"""A term of former prose, as a pattern, and what to write in its place."""

_SPELT_SO = {"promise", "promised", "otherwise", "precise", "compromise", "premise", "rise", "wise"}
_MADE = re.compile(r"<!-- made: [\w ]+ -->\n.*?<!-- end -->", re.DOTALL)


def by_hand(text: str) -> str:
    """A page without what is generated into it."""
    return _MADE.sub("", text)


def words(text: str) -> int:
    """Hand-written words of a page, code included."""
    return len(by_hand(text).split())


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs and list items of a page with the line each begins on; code, tables and headings left out."""
    number, begun, lines, fenced, made = 0, 0, list[str](), False, False

    def ended() -> Iterator[tuple[int, str]]:
        if lines:
            yield begun, " ".join(lines)
            lines.clear()

    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("<!-- made:"):
            made = True
        if stripped.startswith("```"):
            fenced = not fenced
        silent = made or fenced or stripped.startswith(("```", "|", "#", "<", "!!!", "???", "---"))
        code = re.match(r" {4}\S", line) and not lines
        if stripped == "<!-- end -->":
            made = False
        if silent or code or not stripped:
            yield from ended()
            continue
        if re.match(r"([-*]|\d+\.) ", stripped):
            yield from ended()
            stripped = re.sub(r"^([-*]|\d+\.) ", "", stripped)
        if not lines:
            begun = number
        lines.append(stripped)
    yield from ended()


def sentences(paragraph: str) -> list[str]:
    """A paragraph's sentences; a link counts as its text, a piece of code as one word."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "code", paragraph))
    return [each for each in re.split(r"(?<=[.!?:])[)\"*]*\s+(?=[A-Z\"*(`c])", plain) if each]


def too_long(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a page that are longer than a reader takes at once, with the line of their paragraph."""
    for number, paragraph in prose(text):
        for sentence in sentences(paragraph):
            if len(sentence.split()) > LONGEST_SENTENCE:
                yield number, sentence


def former(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, term and replacement of each term that the style forbids."""
    for number, paragraph in prose(text):
        plain = re.sub(r"`[^`]*`|\]\([^)]*\)", "", paragraph)
        for pattern, new in PROSE_TERMS.items():
            for found in re.finditer(pattern, plain, re.IGNORECASE):
                if found[0].lower() not in _SPELT_SO:
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
