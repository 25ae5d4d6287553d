"""Size of a page before its content, and the icons of the sprite."""

import re
from pathlib import Path
from xml.etree import ElementTree

from tests.client import Make
from tests.factories import make_project
from tests.web.browser import Browser

_LIMIT = 60_000
_ASSET = re.compile(r'(?:href|src)="(/assets/[^"#]+)')
_WEB = Path(__file__).parents[2] / "ingot" / "web"
_SPRITE = _WEB / "vendor" / "lucide" / "icons.svg"


def _transferred(browser: Browser, address: str) -> int:
    """Return the number of bytes that a browser receives for an address."""
    response = browser.get(address, headers={"accept-encoding": "gzip"})
    return response.num_bytes_downloaded


def test_an_empty_project_is_light(browser: Browser, make: Make) -> None:
    owner = make.user(password="correct horse battery")
    project = make_project(make, owner)
    browser.signed_in_as(owner)
    page = browser.get(f"/{project.path}").text

    assets = {address: _transferred(browser, address) for address in set(_ASSET.findall(page))}

    assert {"ingot.css", "ingot.js", "icons.svg"} <= {address.split("/")[2].split("?")[0] for address in assets}
    assert _transferred(browser, f"/{project.path}") + sum(assets.values()) < _LIMIT, assets


def test_every_icon_of_the_templates_exists() -> None:
    names = {symbol.get("id") for symbol in ElementTree.parse(_SPRITE).getroot()}
    used = {
        name
        for path in (_WEB / "templates").rglob("*.html")
        for name in re.findall(r'(?<![\w.])(?:ui\.)?icon\("([\w-]+)"', path.read_text())
    }

    assert len(used) > 20
    assert used - names == set()
