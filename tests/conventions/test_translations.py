"""The German catalogue covers the layout and the pages of sign-in, project home, issues and merge requests."""

import re
from collections.abc import Iterator
from pathlib import Path

from ingot.web.languages import load_catalogue
from ingot.web.translation import translate_template

TEMPLATES = Path(__file__).parents[2] / "ingot" / "web" / "templates"
FOLDERS = ("sign_in", "issues", "merge_requests")
PAGES = ("layout.html", "message.html", "projects/home.html", "profile/preferences.html")
_USED = re.compile(r'\{%-? *(?:extends|import|include) *"([^"]+)"')
_COUNTED = re.compile(r'\|count\("([^"]+)"(?:, "([^"]+)")?\)')


def _covered_templates() -> set[str]:
    """Return the templates of the covered pages and those that they use."""
    names = [f"{folder}/{path.name}" for folder in FOLDERS for path in (TEMPLATES / folder).glob("*.html")]
    covered: set[str] = set()
    pending = [*names, *PAGES]
    while pending:
        name = pending.pop()
        if name not in covered and (TEMPLATES / name).exists():
            covered.add(name)
            pending += _USED.findall((TEMPLATES / name).read_text())
    return covered


def _texts(source: str) -> Iterator[str]:
    """Yield the English texts of a template, and the nouns that follow numbers."""
    texts: list[str] = []
    unchanged = translate_template(source, texts.append)
    assert unchanged == source
    yield from texts
    for one, several in _COUNTED.findall(source):
        yield from (f"{{}} {one}", f"{{}} {several or one + 's'}")


def test_covered_pages_are_translated() -> None:
    catalogue = load_catalogue("de")
    covered = _covered_templates()
    assert {"layout.html", "ui.html", "issues/show.html", "merge_requests/show.html"} <= covered
    missing = {text for name in covered for text in _texts((TEMPLATES / name).read_text()) if text not in catalogue}
    assert sorted(missing) == [], "Add these texts to ingot/web/translations/de.toml."


def test_translations_keep_the_expressions() -> None:
    pairs = load_catalogue("de").items()
    assert [text for text, translation in pairs if text.count("{}") != translation.count("{}")] == []
    assert [text for text, translation in pairs if set('<>"') & set(translation)] == [], (
        "They become part of templates."
    )
