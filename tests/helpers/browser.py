"""
A real browser without a window, where one is installed: what a page looks like, says in the console, and asks for.

It is spoken to by the DevTools protocol through a pipe, so nothing listens anywhere:
https://chromedevtools.github.io/devtools-protocol/.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
"""Its program; None where there is none, and `make browser` installs one."""

ANSWER_SECONDS = 60

_SWITCHES = (
    *("--headless", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    # a container has no user namespaces, and little shared memory; the pages are our own
    *("--no-sandbox", "--disable-dev-shm-usage"),
)
# It reads commands from 3 and writes answers to 4; the two pipes are above, so that neither covers the other.
_ON_3_AND_4 = "import os, sys; a = sys.argv; os.dup2(int(a[1]), 3); os.dup2(int(a[2]), 4); os.execv(a[3], a[3:])"


class Pipe:
    """Commands to a browser, and what it tells unasked."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers, self._number = commands, answers, 0
        self._unread = b""
        self.told: list[dict[str, Any]] = []
        self._selector = selectors.DefaultSelector()
        self._selector.register(answers, selectors.EVENT_READ)

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """The result of a command; what is told meanwhile is kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.told.append(answer)
        assert "error" not in answer, (method, answer)
        return dict(answer["result"])

    def await_event(self, method: str) -> None:
        """Go on once that was told."""
        while not any(each.get("method") == method for each in self.told):
            self.told.append(self._next())

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + ANSWER_SECONDS
        while b"\0" not in self._unread:
            assert self._selector.select(until - time.monotonic()), "the browser does not answer"
            came = os.read(self._answers, 1 << 20)
            assert came, "the browser has ended"
            self._unread += came
        message, _, self._unread = self._unread.partition(b"\0")
        return dict(json.loads(message))


@dataclass
class Page:
    """A page that is open."""

    pipe: Pipe
    session: str
    console: list[str] = field(default_factory=list)
    """Errors and warnings: of scripts, and what the page's policy refused."""
    requests: list[str] = field(default_factory=list)
    """Every address that was asked for, that of the page included."""

    def log_in(self, url: str, token: str) -> None:
        """Keep the token of an Airflow, as its login would have it kept."""
        self._ask("Network.setCookie", name="_token", value=token, url=url)

    def open(self, url: str) -> None:
        """Go there, and wait until it is loaded and drawn."""
        self.pipe.told.clear()
        self._ask("Page.navigate", url=url)
        self.pipe.await_event("Page.loadEventFired")
        self.drawn()

    def drawn(self) -> None:
        """Wait until what was changed is on the screen."""
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page, of a promise what it comes to."""
        said = self._ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        self._listen()
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def point(self, selector: str, right: float, down: float) -> None:
        """Move the mouse to so many pixels from the left upper corner of an element."""
        corner = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        left, top = self.evaluate(f"(({{left, top}}) => [left, top])({corner})")
        self._ask("Input.dispatchMouseEvent", type="mouseMoved", x=left + right, y=top + down)
        self.drawn()

    def picture(self, file: Path, *, whole: bool = False) -> None:
        """Store what is seen, or the whole page, as PNG."""
        taken = self._ask("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(taken["data"]))

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.pipe.ask(method, self.session, **parameters)

    def _listen(self) -> None:
        for event in self.pipe.told:
            match event["method"], event["params"]:
                case "Log.entryAdded", {"entry": {"level": "error" | "warning", "text": text}}:
                    self.console.append(text)
                case "Runtime.consoleAPICalled", {"type": "error" | "warning", "args": said}:
                    self.console.append(str([each.get("value") for each in said]))
                case "Runtime.exceptionThrown", {"exceptionDetails": problem}:
                    self.console.append(problem.get("exception", {}).get("description", "?"))
                case "Network.requestWillBeSent", {"request": {"url": url}}:
                    self.requests.append(url)
        self.pipe.told.clear()


@contextmanager
def browser(folder: Path) -> Iterator[Pipe]:
    """A browser that keeps what it keeps in a folder, and ends with the block."""
    assert BROWSER is not None
    (to_read, commands), (answers, to_write) = os.pipe(), os.pipe()
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
    argv = [sys.executable, "-c", _ON_3_AND_4, *map(str, theirs), BROWSER, *_SWITCHES]
    process = subprocess.Popen(
        [*argv, f"--user-data-dir={folder / 'profile'}"],
        pass_fds=theirs,
        env=os.environ | {"HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    for end in (to_read, to_write, *theirs):
        os.close(end)
    try:
        yield Pipe(commands, answers)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(commands)
        os.close(answers)


def new_page(pipe: Pipe, width: int = 1280, *, dark: bool = False) -> Page:
    """An empty page so many pixels wide, in a light or dark theme; a narrow one is a phone's."""
    target = pipe.ask("Target.createTarget", url="about:blank")["targetId"]
    session = pipe.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    page = Page(pipe, session)
    for domain in ("Page", "Runtime", "Log", "Network"):
        pipe.ask(f"{domain}.enable", session)
    phone = width < 600
    pipe.ask(
        "Emulation.setDeviceMetricsOverride",
        session,
        width=width,
        height=844 if phone else 900,
        deviceScaleFactor=2 if phone else 1,
        mobile=phone,
    )
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    pipe.ask("Emulation.setEmulatedMedia", session, features=[theme])
    return page
