"""The German catalogue covers all pages."""

import re
from collections.abc import Iterator
from pathlib import Path

from ingot.web.admin.settings import FIELDS
from ingot.web.all_pages import ALL_PAGES
from ingot.web.ci.settings import FLAG_LABELS
from ingot.web.groups.membership import ROLE_NAMES
from ingot.web.languages import load_catalogue
from ingot.web.projects.settings import FEATURES
from ingot.web.scope_labels import SCOPE_DESCRIPTIONS
from ingot.web.translation import PageLanguage, translate_template

TEMPLATES = Path(__file__).parents[2] / "ingot" / "web" / "templates"
_COUNTED = re.compile(r'\|count\("([^"]+)"(?:, "([^"]+)")?\)')


def _texts(source: str) -> Iterator[str]:
    """Yield the English texts of a template, and the nouns that follow numbers."""
    texts: list[str] = []
    unchanged = translate_template(source, texts.append)
    assert unchanged == source
    yield from texts
    for one, several in _COUNTED.findall(source):
        yield from (f"{{}} {one}", f"{{}} {several or one + 's'}")


def test_templates_are_translated() -> None:
    catalogue = load_catalogue("de")
    sources = [path.read_text() for path in TEMPLATES.rglob("*.html")]
    missing = {text for source in sources for text in _texts(source) if text not in catalogue}
    assert sorted(missing) == [], "Add these texts to ingot/web/translations/de.toml."


def test_notices_and_labels_of_python_code_are_translated() -> None:
    catalogue = load_catalogue("de")
    notices = {route.notice for pages in ALL_PAGES for route in pages.routes if isinstance(route.notice, str)}
    labels = {*SCOPE_DESCRIPTIONS.values(), *ROLE_NAMES.values(), *FEATURES.values(), *FLAG_LABELS.values()}
    labels |= {text for fields in FIELDS.values() for text, _ in fields.values()} | FIELDS.keys()
    assert sorted(text for text in notices | labels if text and text not in catalogue) == []


def test_messages_with_values_are_translated() -> None:
    german = PageLanguage("de")
    assert (
        german.translate("Merge conflicts with main must be resolved.")
        == "Merge-Konflikte mit main müssen gelöst werden."
    )
    assert german.translate("Title can't be blank.") == "Titel darf nicht leer sein."
    assert german.translate("An unknown sentence about main.") == "An unknown sentence about main."


def test_translations_keep_the_expressions() -> None:
    pairs = load_catalogue("de").items()
    assert [text for text, translation in pairs if text.count("{}") != translation.count("{}")] == []
    assert [text for text, translation in pairs if set('<>"') & set(translation)] == [], (
        "They become part of templates."
    )
