"""Help page: first steps, or the text of administrators."""

from collections.abc import Iterator

import pytest

from tests.client import Api, Make
from tests.conftest import ROOT_PASSWORD
from tests.factories import make_project
from tests.web.browser import Browser


@pytest.fixture
def restored_settings(api: Api, make: Make) -> Iterator[None]:
    """Restore the settings after the test."""
    before = api.get("/application/settings", make.root).json()
    yield
    now = api.get("/application/settings", make.root).json()
    changed = {name: value for name, value in before.items() if now[name] != value}
    assert api.put("/application/settings", make.root, **changed).status_code == 200


def test_default_help(browser: Browser, api: Api, make: Make, restored_settings: None) -> None:
    page = browser.get("/help")

    assert page.status_code == 200
    assert f'value="git clone {browser.url}/group/project.git"' in page.text
    assert 'value="git clone ssh://git@' in page.text
    assert 'href="/api/v4/docs"' in page.text
    assert "PRIVATE-TOKEN: &lt;your token&gt;" in page.text
    assert "Ingot hosts git repositories" in page.text
    assert 'href="/help"' in browser.get("/explore").text
    changed = {"enabled_git_access_protocol": "http", "help_page_hide_commercial_content": True}
    assert api.put("/application/settings", make.root, **changed).status_code == 200
    page = browser.get("/help")
    assert "ssh-keygen" not in page.text and "ssh://" not in page.text
    assert "Ingot hosts git repositories" not in page.text


def test_help_and_empty_projects_name_the_same_password(browser: Browser, make: Make) -> None:
    """A personal access token, and the account's password without two-factor authentication."""
    text = 'a <a href="/profile/personal_access_tokens">personal access token</a> as the password. The password of your'
    project = make_project(make, visibility="public")

    assert text in browser.get("/help").text
    assert text in browser.get(f"/{project.path}").text


def test_custom_help_text(browser: Browser, restored_settings: None) -> None:
    assert browser.sign_in("root", ROOT_PASSWORD).status_code == 302
    settings = "/admin/application_settings/help"
    form = browser.form(settings, settings)
    text = "# Ask *Ada*\n\n<script>alert(1)</script>[bad](javascript:alert(1))"
    typed = {**form.fields, "settings[signin_enabled]": "1", "settings[help_page_text]": text}

    refused = browser.post(settings, data={**typed, "settings[help_page_support_url]": "javascript:alert(1)"})
    assert refused.status_code == 422
    assert "# Ask *Ada*" in refused.text
    typed["settings[help_page_support_url]"] = "https://help.example.org/?a=1&b=2"
    assert browser.post(settings, data=typed).status_code == 302

    page = browser.get("/help").text
    assert "Ask <em>Ada</em>" in page
    assert page.count("<h1") == 1
    assert "<script>alert" not in page and 'href="javascript' not in page
    assert 'href="https://help.example.org/?a=1&amp;b=2"' in page
    assert "git clone" not in page
