"""Checks of every page: accessibility in light and dark mode, and geometry on a desktop and on a phone.

Each page is loaded once for all of them. The pages are divided into areas, so that several processes can check them.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.conftest import AXE, RULES, BrowserWindow, describe
from tests.sample_data.addresses import addresses
from tests.sample_data.records import SampleData

DESK, PHONE = 1440, 390
VISITORS = ("owner", "colleague", "root", "nobody")
_HEIGHT = 600
_FOLDER = Path(__file__).parent
_PLANNING = re.compile(r"issues|merge_requests|labels|milestones|boards|todos")
_CODE = re.compile(
    r"/-/(tree|refs|blob|blame|find_file|commit|compare|branches|tags|releases|graphs|new/|new_dir|edit/|delete|upload|"
    r"pipeline|jobs|runners|ci/|environments|packages|container_registry|wikis|snippets|search)"
)


def area_of(route: str) -> str:
    """Return the area of a page, each of which takes about a third of the time."""
    return "planning" if _PLANNING.search(route) else "code" if _CODE.search(route) else "other"


class PageChecker:
    """Window into which pages are loaded in turn, so that styles, scripts and axe-core are loaded once."""

    def __init__(self, window: BrowserWindow) -> None:
        self._window = window
        self._width = DESK
        window.page.set_viewport_size({"width": DESK, "height": _HEIGHT})
        window.open("/explore")
        for script in (AXE, (_FOLDER / "reader.js").read_text(), (_FOLDER / "geometry.js").read_text()):
            window.page.evaluate(script)

    def faults(self, path: str, sent: dict[str, str] | None = None, status: int = 200) -> list[str]:
        """Return what is wrong with a page; it is loaded at the width at which the page before was left."""
        page = self._window.page
        read: dict[str, Any] = page.evaluate(
            "([path, sent, rules]) => readPage(path, sent, rules)", [path, sent, RULES]
        )
        faults = describe(read["violations"])
        if read["status"] != status:
            faults.append(f"answered {read['status']}")
        faults += [f"{self._width}: {fault}" for fault in page.evaluate("checkGeometry()")]
        self._width = DESK + PHONE - self._width
        page.set_viewport_size({"width": self._width, "height": _HEIGHT})
        return faults + [f"{self._width}: {fault}" for fault in page.evaluate("checkGeometry()")]


def check_area(open_window: Callable[..., BrowserWindow], samples: SampleData, visitor: str, area: str) -> None:
    """Check the pages of an area that a visitor sees. The list of pages is derived from all routes (another test)."""
    window = open_window()
    if visitor != "nobody":
        window.set_session(samples.people[visitor])
    checker = PageChecker(window)
    found = {
        f"{address.route} {address.path}": checker.faults(address.path, address.sent, address.status)
        for address in addresses(samples)
        if address.visitor == visitor and area_of(address.route) == area
    }
    faulty = {path: faults for path, faults in found.items() if faults}
    assert faulty == {}, faulty
