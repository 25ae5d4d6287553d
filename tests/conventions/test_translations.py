"""The German catalogue covers all pages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from ingot.collaboration.issues.discussions import system_note_texts as of_issue
from ingot.collaboration.merge_requests.discussions import system_note_texts as of_merge_request
from ingot.collaboration.planning import note_texts as planned
from ingot.core.access.levels import ROLE_NAMES
from ingot.integrations.registry import REGISTRY
from ingot.web.admin.settings import FIELDS
from ingot.web.all_pages import ALL_PAGES
from ingot.web.ci.settings import FLAG_LABELS
from ingot.web.discussions.system_note_translation import translate_system_note
from ingot.web.groups.integration_fields import integration_fields
from ingot.web.languages import load_catalogue
from ingot.web.projects.settings import FEATURES
from ingot.web.scope_labels import SCOPE_DESCRIPTIONS
from ingot.web.translation import PageLanguage, translate_template

INGOT = Path(__file__).parents[2] / "ingot"
TEMPLATES = INGOT / "web" / "templates"
TRANSFERS = INGOT / "import_export"
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
    for integration in REGISTRY.values():
        shown = {(field.label, field.hint) for field in integration_fields(integration)}
        labels |= {integration.effect, *(text for texts in shown for text in texts)}
    labels |= {text for fields in FIELDS.values() for text, _ in fields.values()} | FIELDS.keys()
    assert sorted(text for text in notices | labels if text and text not in catalogue) == []


def test_sentences_of_import_reports_are_translated() -> None:
    """They are stored in English and translated when a page shows them, as the error messages of forms are."""
    catalogue, sentences = load_catalogue("de"), set()
    for path in (path for name in ("runs", "sources", "target") for path in (TRANSFERS / name).rglob("*.py")):
        tree = ast.parse(path.read_text())
        joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        parts = {id(part) for node in joined for part in node.values}
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        sentences |= {str(node.value).strip() for node in texts if id(node) not in parts | docstrings}
        sentences |= {
            "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            for node in joined
        }
    found = {sentence for sentence in sentences if " " in sentence and sentence.endswith(".")}
    assert len(found) > 50
    assert sorted(found - catalogue.keys()) == []


def test_messages_with_values_are_translated() -> None:
    german = PageLanguage("de")
    assert (
        german.translate("Merge conflicts with main must be resolved.")
        == "Merge-Konflikte mit main müssen gelöst werden."
    )
    assert german.translate("Title can't be blank.") == "Titel darf nicht leer sein."
    assert german.translate("An unknown sentence about main.") == "An unknown sentence about main."


def test_system_notes_are_translated() -> None:
    """Each text that the functions of system notes return, for one and for several values."""
    added, removed = ["ada"], ["ben", "cem", "dee"]
    texts = [
        *(planned.labels_changed(*ids) for ids in (((1,), ()), ((1, 2), ()), ((), (1,)), ((), (1, 2)), ((1,), (2,)))),
        *(planned.assignees_changed(*names) for names in ((added, ()), ((), removed), (added, removed))),
        *(of_merge_request.reviewers_changed(*names) for names in ((added, ()), ((), removed), (added, removed))),
        *(planned.milestone_changed(title) for title in ("Spring", "Spring tide", None)),
        *(planned.time_spent_changed(*seconds) for seconds in ((0, 3600), (3600, 60), (60, 0))),
        *(planned.estimate_changed(seconds) for seconds in (0, 3600)),
        *(of_merge_request.draft_changed(flag) for flag in (True, False)),
        *(of_merge_request.lock_changed(flag) for flag in (True, False)),
        *(of_issue.lock_changed(flag) for flag in (True, False)),
        *(of_issue.confidentiality_changed(flag) for flag in (True, False)),
        *(of_issue.due_date_changed(day) for day in ("2030-03-09", None)),
        planned.title_changed("Low tide", "High tide"),
        of_merge_request.target_changed("main", "release"),
        of_merge_request.auto_merge_aborted("The pipeline failed."),
        *(
            "closed",
            "reopened",
            "merged",
            "closed via merge request !1",
            "moved to sea/tides#1",
            "added 2 commits\n\n* x",
        ),
        *("mentioned in issue #1", "marked #2 as a duplicate of this issue", "resolved all threads"),
    ]
    german = {text: translate_system_note(text, "de") for text in texts}
    assert [text for text, shown in german.items() if not shown.startswith("hat ")] == []
    assert [translate_system_note(text, "en") for text in texts] == texts
    names = german[planned.assignees_changed(added, removed)]
    assert names == "hat @ada zugewiesen und die Zuweisung an @ben, @cem und @dee aufgehoben"
    assert translate_system_note("a note of another server", "de") == "a note of another server"


def test_translations_keep_the_expressions() -> None:
    pairs = load_catalogue("de").items()
    assert [text for text, translation in pairs if text.count("{}") != translation.count("{}")] == []
    assert [text for text, translation in pairs if set('<>"') & set(translation)] == [], (
        "They become part of templates."
    )


def test_german_texts_address_users_formally() -> None:
    """Neither pronouns of the informal address nor its imperatives, such as "Wähle" besides "Wählen Sie"."""
    texts = [text for text in load_catalogue("de").values() if " " in text]
    formal = {verb for text in texts for verb in re.findall(r"\b(\w+en) Sie\b", text)}
    imperatives = {verb[:-1].capitalize() for verb in formal} | {"Gib", "Lies", "Nimm"}
    informal = re.compile(r"\b(du|dein\w*|dir|dich|hast|bist|kannst|musst|darfst|möchtest|willst)\b", re.IGNORECASE)
    starts = re.compile(r"(?:^|[.:!?] )(\w+) \w")
    commands = [text for text in texts if text.endswith(".") and imperatives & set(starts.findall(text))]
    found = commands + [text for text in texts if informal.search(text)]
    assert found == []
