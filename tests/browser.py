"""A real browser for tests of pages: Chromium, headless, driven by Playwright, cut off from every network.

The fixtures are loaded by tests/conftest.py. A test asks for `open_page`, opens a file with it, and drives what it
gets; no request but for the file itself may be made, and no error may be logged, or the test fails at its end.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Route

CHROMIUM = "QBENCH_CHROMIUM"
"""The environment variable that names the browser to use."""

OpenPage = Callable[..., "Page"]


def find_chromium() -> str | None:
    """The path of a Chromium: what QBENCH_CHROMIUM says, else `chromium` on the PATH."""
    return os.environ.get(CHROMIUM) or shutil.which("chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A running Chromium; one for each worker that has a test of pages, started by the first of them.

    While it runs, `asyncio.run` is refused in this process: Playwright's own loop is running.
    """
    path = find_chromium()
    if path is None:
        pytest.skip(f"no chromium here: `apt-get install chromium`, or name one in {CHROMIUM}")
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright here: `pip install 'qbench[test]'`")
    with sync_api.sync_playwright() as playwright:
        # Root needs --no-sandbox; in a container /dev/shm is small.
        running = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield running
        running.close()


@dataclass
class Watch:
    """What a page did that it should not have done."""

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def route(self, route: Route) -> None:
        """Let a file be read, and abort and note anything else."""
        url = route.request.url
        if url.startswith("file:"):
            route.continue_()
        else:
            self.requests.append(url)
            route.abort()

    def console(self, message: ConsoleMessage) -> None:
        """Note errors and warnings: what the content policy blocks is an error too."""
        if message.type in ("error", "warning"):
            self.errors.append(message.text)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens a file in a context of its own: `open_page(path, width=1280, height=900, dark=False, ...)`.

    Further options are those of Playwright's `Browser.new_context`. At the end of the test every page must have asked
    for nothing but files, and have logged no error.
    """
    watch = Watch()
    contexts = []

    def opened(path: Path, *, width: int = 1280, height: int = 900, dark: bool = False, **options: Any) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", **options
        )
        contexts.append(context)
        context.set_default_timeout(30_000)
        context.route("**/*", watch.route)
        page = context.new_page()
        page.on("console", watch.console)
        page.on("pageerror", lambda error: watch.errors.append(str(error)))
        page.goto(path.absolute().as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not watch.requests, watch.requests
    assert not watch.errors, watch.errors
