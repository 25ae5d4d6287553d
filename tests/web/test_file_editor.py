"""The diff that the file editor shows before a commit."""

from html import unescape
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project
from tests.client import Make, User
from tests.factories import Project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a project with a file."""
    project = filled_project(make, person)
    commit(make, project, "master", {"notes.py": "first = 1\r\nsecond = 2\r\n"}, person)
    return project


def preview(browser: Browser, project: Project, page: str, **values: Any) -> str:
    """Return the editor after its preview was requested."""
    address = f"/{project.path}/-/{page}"
    answer = browser.submit(address, address, fields={"preview": "1", "branch": "master", **values})
    assert answer.status_code == 200, answer.text
    return answer.text


def test_preview_shows_the_diff_and_commits_nothing(
    make: Make, person: User, project: Project, browser: Browser
) -> None:
    browser.signed_in_as(person)
    before = make.api.get(f"{project.url}/repository/commits", person).json()
    page = preview(browser, project, "edit/master/notes.py", content="first = 1\r\nsecond = <3>\r\n")
    assert '<span class="plus">+1</span> <span class="minus">−1</span>' in unescape(page), "Line endings are no change."
    assert "&lt;" in page.partition('id="changes"')[2]
    assert "second = &lt;3&gt;" in page, "The text stays in the form."
    same = preview(browser, project, "edit/master/notes.py", content="first = 1\nsecond = 2\n")
    assert "You have not changed the file." in same
    moved = preview(browser, project, "edit/master/notes.py", content="first = 1\nsecond = 2\n", file_path="moved.py")
    assert "moved.py" in moved.partition('id="changes"')[2]
    added = preview(browser, project, "new/master", content="new\n", file_path="folder/added.txt")
    assert '<span class="plus">+1</span>' in added
    assert make.api.get(f"{project.url}/repository/commits", person).json() == before


def test_preview_needs_permission(make: Make, person: User, project: Project, browser: Browser) -> None:
    reporter = make.user(password=PASSWORD)
    make.api.post(f"{project.url}/members", person, user_id=reporter.id, access_level=Level.REPORTER)
    browser.signed_in_as(reporter)
    form = {"authenticity_token": browser.token(), "preview": "1", "content": "x", "file_path": "notes.py"}
    answer = browser.post(f"/{project.path}/-/edit/master/notes.py", data=form)
    assert "You do not have write access" in answer.text
    assert 'id="changes"' not in answer.text
