"""Task list checkboxes: names on pages, and texts that look like one."""

import pytest

from ingot.web.task_checkboxes import label_task_checkboxes
from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser


@pytest.mark.parametrize(
    ("html", "named"),
    [
        ("<p>none</p>", "<p>none</p>"),
        ('<input type="checkbox"> a', '<input aria-label="Task 1" type="checkbox"> a'),
        ('<a title="<input x" href="/">a</a>', '<a title="<input x" href="/">a</a>'),
        (
            '<a title="<input a=" href=" b=">x</a> <input type="checkbox">',
            '<a title="<input a=" href=" b=">x</a> <input aria-label="Task 1" type="checkbox">',
        ),
    ],
)
def test_only_checkboxes_are_named(html: str, named: str) -> None:
    assert label_task_checkboxes(html) == named


def test_pages_name_checkboxes_and_the_api_does_not(browser: Browser, make: Make, api: Api, person: User) -> None:
    project = make_project(make, person, visibility="public")
    text = "- [ ] find\n- [x] mend\n\n<a title='<input onclick=alert(1) '>x</a>\n"
    content = {"branch": "master", "commit_message": "Plan", "content": text}
    api.post(f"{project.url}/repository/files/README.md", person, **content)
    api.post(f"{project.url}/wikis", person, title="home", content=text)
    api.post(f"{project.url}/issues", person, title="Plan", description="- [ ] one\n- [x] two\n")

    for path in ("", "/-/wikis", "/-/blob/master/README.md"):
        page = browser.get(f"/{project.path}{path}").text
        assert '<input aria-label="Task 1"' in page, path
        assert '<input aria-label="Task 2"' in page, path
        assert page.count('aria-label="Task') == 2, path
    assert "Task" not in api.post("/markdown", person, text=text).json()["html"]
    browser.sign_in(person.username, person.password)
    assert 'role="checkbox" aria-checked="false" aria-label="Task 1"' in browser.get(f"/{project.path}/-/issues/1").text
