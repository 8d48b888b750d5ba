"""
The file in a real browser, where one is installed (`make browser`): its charts are drawn, it can be read, in light and
dark, on a desk and on a phone, and it asks for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from evenkeel.engine.report import Served, render
from evenkeel.engine.report.values import ForecastBand, Standing
from tests.helpers.browser import BROWSER, Page, Pipe, browser, new_page
from tests.unit.report.test_page import EVIL, NOW, fleet, full, group, stored

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(BROWSER is None, reason="no browser is installed: make browser"),
]

DESK, PHONE = 1280, 390

DRAWN = """[...document.querySelectorAll("details[open] .chart canvas")].map(canvas => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
})"""
"""How many colors each chart of the open group has; 1 if it is empty."""

# https://www.w3.org/TR/WCAG22/#contrast-minimum: 4.5 to 1, and 3 to 1 where letters are large
FAINT = """(() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((each, i) => each * a + under[i] * (1 - a));
  const behind = element => {
    const under = element.parentElement ? behind(element.parentElement) : [255, 255, 255];
    return over(parse(getComputedStyle(element).backgroundColor), under);
  };
  const light = color => {
    const [r, g, b] = color.map(c => (c / 255 <= .04045 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    if (!text || !element.checkVisibility() || element.closest("script, style")) continue;
    const style = getComputedStyle(element), size = parseFloat(style.fontSize), under = behind(element);
    const [a, b] = [light(under), light(over(parse(style.color), under))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push([text, +ratio.toFixed(2)]);
  }
  return found;
})()"""
"""Text that stands out too little from what is behind it, with the ratio."""


STUCK = (
    'Math.max(...[...document.querySelectorAll(".s td:first-child")].map(cell => cell.offsetWidth))'
)
"""How much of a phone's width the column takes that stays while the others go by."""


@pytest.fixture(scope="module")
def pipe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipe]:
    """One browser for all tests here."""
    with browser(tmp_path_factory.mktemp("browser")) as ours:
        yield ours


def opened(
    pipe: Pipe,
    file: Path,
    content: str,
    width: int = DESK,
    *,
    dark: bool = False,
    fragment: str = "#g0",
) -> Page:
    """A page of that content, at its first group."""
    file.write_text(content, encoding="utf-8")
    page = new_page(pipe, width, dark=dark)
    page.open(f"{file.as_uri()}{fragment}")
    return page


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [("orders", DESK, False), (EVIL, DESK, True), (EVIL, PHONE, False), ("orders", PHONE, True)],
    ids=["plain", "evil, dark", "evil, phone", "phone, dark"],
)
def test_a_group_that_is_opened_can_be_read(
    pipe: Pipe, tmp_path: Path, name: str, width: int, dark: bool
) -> None:
    """Whatever it is called: charts are drawn, nothing is too faint or beside the screen, asked for, or wrong."""
    file = tmp_path / "report.html"
    page = opened(
        pipe, file, render(stored(fleet(full(name, 40), snapshots=40), name)), width, dark=dark
    )
    page.evaluate('document.querySelectorAll("details").forEach(each => each.open = true)')
    page.drawn()

    assert len(colors := page.evaluate(DRAWN)) == 2
    assert min(colors) > 3
    assert page.evaluate(FAINT) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert width == DESK or 0 < page.evaluate(STUCK) <= width / 2
    assert page.console == []
    assert page.requests == [f"{file.as_uri()}#g0".removesuffix("#g0")]


def test_the_page_of_one_group_is_drawn_at_once(pipe: Pipe, tmp_path: Path) -> None:
    """Nobody has to unfold it, and its address stays what it was."""
    file = tmp_path / "report.html"
    content = render(fleet(full(EVIL, 40), snapshots=40), Served(alone=True))
    page = opened(pipe, file, content, fragment="")

    assert len(colors := page.evaluate(DRAWN)) == 2
    assert min(colors) > 3
    assert page.evaluate("location.href") == file.as_uri()
    assert page.console == []


def test_the_theme_is_that_of_the_reader(pipe: Pipe, tmp_path: Path) -> None:
    """Dark where the machine is dark, light else."""
    content = render(fleet(full("orders", 3)))
    behind = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    light, dark = (
        opened(pipe, tmp_path / "report.html", content, dark=dark).evaluate(behind)
        for dark in (False, True)
    )

    assert min(light) > 230
    assert max(dark) < 40


def test_what_is_shown_beside_a_moment_is_of_that_moment(pipe: Pipe, tmp_path: Path) -> None:
    """A forecast for another time than that which is pointed at is not shown beside its lag."""
    later = ForecastBand(made_at=NOW, due=NOW + timedelta(minutes=15), low=3, expected=5, high=7)
    ours = group(standings=tuple(Standing(lag=n) for n in (8, 9, 11)), forecasts=(later,))
    page = opened(pipe, tmp_path / "report.html", render(fleet(ours)))
    shown = '[...document.querySelector("#g0 .u-legend").querySelectorAll(".u-value")].map(v => v.textContent)'

    page.point("#g0 .chart .u-over", 2, 50)
    assert page.evaluate(shown) == ["03-01 11:50", "8", "", "", ""]
    page.point(
        "#g0 .chart .u-over",
        page.evaluate('document.querySelector("#g0 .chart .u-over").clientWidth') - 2,
        50,
    )
    assert page.evaluate(shown) == ["03-01 12:15", "", "3", "7", "5"]
