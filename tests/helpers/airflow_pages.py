"""The pages of the report inside a real Airflow: asked for, and looked at in a browser."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.helpers.browser import Pipe, new_page
from tests.stage.process import wait_until

DRAWN_SECONDS = 240

INSIDE = """(() => {
  const page = document.querySelector("iframe")?.contentDocument;
  if (!page?.querySelector(".group canvas")) return "";
  const {scrollWidth, clientWidth} = page.documentElement;
  return JSON.stringify({
    groups: [...page.querySelectorAll(".who bdi")].map(name => name.textContent),
    overflow: scrollWidth - clientWidth,
    background: page.defaultView.getComputedStyle(page.body).backgroundColor,
    navigation: [...document.querySelectorAll("a[href*='plugin/evenkeel']")].map(a => a.textContent),
  });
})()"""
"""What the frame inside Airflow's navigation shows, once its first chart is drawn."""

OF_AIRFLOW = "An iframe which has both allow-scripts and allow-same-origin"
"""What a browser says of every page that Airflow frames."""


@dataclass(frozen=True)
class Seen:
    """
    A page as a browser shows it inside Airflow.

    Attributes:
        groups: The names on it, in its order.
        overflow: How many pixels it is wider than its frame.
        background: Its color.
        navigation: What leads to it in Airflow's navigation.
        console: What the browser has to say of it.
        elsewhere: What it asked for that is not of this Airflow.
    """

    groups: list[str]
    overflow: int
    background: str
    navigation: list[str]
    console: list[str]
    elsewhere: list[str]


def asked(url: str, token: str = "") -> tuple[int, str]:
    """Status and document of a page, for who is logged in with a token, or is not."""
    request = urllib.request.Request(url, headers={"Cookie": f"_token={token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def looked_at(
    pipe: Pipe, airflow: str, link: str, token: str, width: int, *, theme: str = "light"
) -> Seen:
    """
    A page inside Airflow's navigation.

    Args:
        pipe: The browser.
        airflow: Airflow's address.
        link: The page's.
        token: Of who looks.
        width: Pixels.
        theme: What that person has chosen in Airflow; the machine itself is set to light.
    """
    page = new_page(pipe, width)
    page.log_in(airflow, token)
    page.open(f"{airflow}/evenkeel/icon.svg")
    page.evaluate(f"localStorage.setItem('theme', {json.dumps(theme)})")
    page.open(link)
    said = wait_until(lambda: page.evaluate(INSIDE), DRAWN_SECONDS, "the page in its frame")
    known: dict[str, Any] = json.loads(said)
    origin = "{0.scheme}://{0.netloc}/".format(urlsplit(airflow))
    ours = (origin, f"blob:{origin}", "data:")
    return Seen(
        **known,
        console=[each for each in page.console if not each.startswith(OF_AIRFLOW)],
        elsewhere=[each for each in page.requests if not each.startswith(ours)],
    )
