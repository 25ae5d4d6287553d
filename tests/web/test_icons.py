"""Icons of the sprite."""

import re
from pathlib import Path
from xml.etree import ElementTree

_WEB = Path(__file__).parents[2] / "ingot" / "web"
_USE = re.compile(r'(?<![\w.])(?:ui\.)?icon\("([\w-]+)"')


def test_every_icon_of_the_templates_exists() -> None:
    sprite = ElementTree.parse(_WEB / "vendor" / "lucide" / "icons.svg").getroot()
    names = {symbol.get("id") for symbol in sprite}
    used = {name for path in (_WEB / "templates").rglob("*.html") for name in _USE.findall(path.read_text())}

    assert len(used) > 20
    assert used - names == set()
