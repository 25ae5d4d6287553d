"""Languages and time zones of the pages: chosen in the preferences, or those of the browser."""

import re
from typing import get_args, get_type_hints

import pytest

from ingot.accounts.instance.all_settings import AllSettings
from ingot.web.display_zone import zone_names, zone_or_none
from ingot.web.languages import LANGUAGES, preferred_language
from ingot.web.translation import translate_template
from tests.client import Make, User
from tests.factories import changed_settings, make_project
from tests.web.browser import Browser

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.8"}
PREFERENCES = "/profile/preferences"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (b"", "en"),
        (b"de", "de"),
        (b"DE-at", "de"),
        (b"fr, de;q=0.5, en;q=0.4", "de"),
        (b"en;q=0.5, de;q=0.4", "en"),
        (b"de;q=0", "en"),
        (b"de;q=x", "en"),
        (b"*", "en"),
        (b"\xff;q=1,,;;" * 100, "en"),
    ],
)
def test_preferred_language(header: bytes, language: str) -> None:
    assert preferred_language(header) == language


def test_templates_are_translated_and_their_logic_is_not() -> None:
    source = (
        '{% if state == "Open" %}<a title="Open" href="/Open">Hello {{ name }},\n you have {{ n|count("star") }}</a>'
        '{% endif %}<code>Open</code>{{ icon("x") }} Open · Ingot'
    )
    words = {"Open": "Offen", "Hello {}, you have {}": "Hallo {}, Sie haben {}"}
    translated = translate_template(source, words.get)
    assert translated == (
        '{% if state == "Open" %}<a title="Offen" href="/Open">Hallo {{ name }}, Sie haben {{ n|count("star") }}</a>'
        '{% endif %}<code>Open</code>{{ icon("x") }} Offen · Ingot'
    )


def test_language_of_the_browser_and_of_the_user(browser: Browser, person: User) -> None:
    german = browser.get("/users/sign_in", headers=GERMAN).text
    assert ('<html lang="de"' in german, "Passwort vergessen?" in german) == (True, True)
    english = browser.get("/users/sign_in").text
    assert ('<html lang="en"' in english, "Forgot your password?" in english) == (True, True)

    browser.signed_in_as(person)
    saved = browser.submit(PREFERENCES, PREFERENCES, fields={"user[preferred_language]": "de", "user[timezone]": ""})
    assert saved.status_code == 302
    page = browser.get(PREFERENCES).text
    assert "Voreinstellungen gespeichert." in page
    assert "Farbschema" in page
    browser.submit(PREFERENCES, PREFERENCES, fields={"user[preferred_language]": "en"})
    assert "Theme" in browser.get(PREFERENCES, headers=GERMAN).text, "The choice of the user comes first."
    browser.submit(PREFERENCES, PREFERENCES, fields={"user[preferred_language]": "../../etc/passwd"})
    assert "Theme" in browser.get(PREFERENCES).text


def test_labels_and_times_of_python_code_are_translated(browser: Browser, person: User, make: Make) -> None:
    """Rows that are rendered without templates, and cached ones, depend on the language as well."""
    project = make_project(make, person)
    sent = {"branch": "master", "commit_message": "Add", "content": "x"}
    make.api.post(f"{project.url}/repository/files/a", person, **sent)
    issue = make.api.post(f"{project.url}/issues", person, title="Tide").json()
    make.api.post(f"{project.url}/issues/{issue['iid']}/notes", person, body="Hello")
    browser.signed_in_as(person)
    for path in (f"/{project.path}/issues/{issue['iid']}", f"/{project.path}/-/tree/master", f"/{project.path}"):
        for headers, texts in ((GERMAN, ("gerade eben", "Einstellungen")), ({}, ("just now", "Settings"))):
            page = browser.get(path, headers=headers).text
            assert [text for text in texts if text not in page] == [], path
            other = ("just now", "minutes ago") if headers else ("gerade eben", "Einstellungen")
            assert [text for text in other if text in page] == [], path


def test_system_notes_and_collapsed_lines_are_translated(browser: Browser, person: User, make: Make) -> None:
    project = make_project(make, person)
    files = f"{project.url}/repository/files/a"
    text = "\n".join(map(str, range(60)))
    make.api.post(files, person, branch="master", commit_message="Add", content=text)
    changed = {"branch": "master", "commit_message": "Change", "content": text.replace("10\n", "x\n")}
    make.api.put(files, person, **changed)
    issue = make.api.post(f"{project.url}/issues", person, title="Tide").json()
    make.api.put(f"{project.url}/issues/{issue['iid']}", person, description="High", due_date="2030-03-09")
    browser.signed_in_as(person)
    pages = {
        f"/{project.path}/issues/{issue['iid']}": (
            ("hat die Beschreibung geändert", "hat das Fälligkeitsdatum auf 2030-03-09 gesetzt"),
            ("changed the description", "changed due date to March 9, 2030"),
        ),
        f"/{project.path}/-/commit/master": (("↕ 7 weitere Zeilen", "↓ 20 weitere"), ("↕ 7 more lines", "↓ 20 more")),
    }
    for path, (german, english) in pages.items():
        for headers, shown, hidden in ((GERMAN, german, english), ({}, english, german)):
            page = browser.get(path, headers=headers).text
            assert [text for text in shown if text not in page] + [text for text in hidden if text in page] == [], path


def test_exact_times_in_the_zone_of_the_user(browser: Browser, person: User, make: Make) -> None:
    project = make_project(make, person)
    issue = make.api.post(f"{project.url}/issues", person, title="Tide").json()
    browser.signed_in_as(person)
    path = f"/{project.path}/issues/{issue['iid']}"

    def title() -> str:
        (shown,) = set(re.findall(r'<time datetime="[^"]+" title="([^"]+)"', browser.get(path).text)[:1])
        return str(shown)

    utc = title()
    assert utc.endswith("UTC")
    browser.cookies.set("_service_zone", "Asia/Kathmandu")
    assert title().endswith("+0545")
    browser.submit(PREFERENCES, PREFERENCES, fields={"user[timezone]": "Asia/Tokyo"})
    assert title().endswith("JST")
    for hostile in ("../../etc/passwd", "America", "/etc/passwd", "x" * 300, "%00", "localtime"):
        browser.submit(PREFERENCES, PREFERENCES, fields={"user[timezone]": hostile})
        browser.cookies.set("_service_zone", hostile)
        assert title() == utc or hostile == "localtime", hostile


def test_zone_names() -> None:
    assert {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"} <= set(zone_names())
    assert [name for name in zone_names() if name != "UTC" and zone_or_none(name) is None] == []


def test_the_language_of_the_instance(browser: Browser, make: Make) -> None:
    with changed_settings(make, default_preferred_language="de"):
        assert "Anmelden" in browser.get("/users/sign_in").text
    assert "Anmelden" not in browser.get("/users/sign_in").text
    assert get_args(get_type_hints(AllSettings)["default_preferred_language"]) == tuple(LANGUAGES)
