"""Statement counts of pages without commits since the last visit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ingot.core.db.compiled_statements import CompiledStatement
from ingot.core.db.connection import Connection
from tests.api.issues.factories import make_issue, make_milestone
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Make, User
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

TRIES = 8


@pytest.fixture
def reads_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Browser, str], list[str]]:
    """Return a function that returns the statement count of a page: the minimum of several visits."""
    execute = Connection._execute

    @contextmanager
    def counting() -> Iterator[list[str]]:
        seen: list[str] = []

        def count(db: Connection, compiled: CompiledStatement, values: dict[str, object]) -> object:
            seen.append(compiled.text)
            return execute(db, compiled, values)

        with monkeypatch.context() as patched:
            patched.setattr(Connection, "_execute", count)
            yield seen

    def visit(browser: Browser, path: str) -> list[str]:
        visits = []
        for _ in range(TRIES):
            with counting() as seen:
                assert browser.get(path).status_code == 200
            visits.append(seen)
        return min(visits, key=len)

    return visit


def test_issue(make: Make, person: User, browser: Browser, reads_of: Callable[[Browser, str], list[str]]) -> None:
    other = make.user(password=PASSWORD)
    project = filled_project(make, person, visibility="public")
    milestone = make_milestone(make, project)["id"]
    make.api.post(f"{project.url}/labels", person, name="bug", color="#ff0000")
    first = make_issue(make, project, person, title="First")
    text = f"As in #{first['iid']}, said @{other.username}.\n\n- [ ] a task"
    sent = {"labels": "bug", "milestone_id": milestone, "assignee_ids": [other.id]}
    issue = make_issue(make, project, person, title="Second", description=text, **sent)
    url = f"{project.url}/issues/{issue['iid']}"
    make.api.post(f"{url}/links", person, target_project_id=project.id, target_issue_iid=first["iid"])
    make.api.post(f"{url}/award_emoji", other, name="tada")
    note = make.api.post(f"{url}/notes", other, body="One").json()
    make.api.post(f"{url}/notes/{note['id']}/award_emoji", person, name="tada")
    page = f"/{project.path}/-/issues/{issue['iid']}"
    browser.signed_in_as(person)

    few = reads_of(browser, page)
    assert len(few) <= 10, few

    for writer in (make.user(), make.user(), other):
        for number in range(3):
            assert make.api.post(f"{url}/notes", writer, body=f"Note {number}").status_code == 201
    assert len(reads_of(browser, page)) == len(few)


def test_merge_request(
    make: Make, person: User, browser: Browser, reads_of: Callable[[Browser, str], list[str]]
) -> None:
    project = filled_project(make, person)
    make.api.post(f"{project.url}/labels", person, name="bug", color="#ff0000")
    request = make_merge_request(
        make, project, person, title="Change", description="Text", labels="bug", assignee_id=person.id
    )
    url = f"{project.url}/merge_requests/{request['iid']}"
    for number in range(3):
        assert make.api.post(f"{url}/notes", person, body=f"Note {number}").status_code == 201

    reads = reads_of(browser.signed_in_as(person), f"/{project.path}/-/merge_requests/{request['iid']}")
    assert len(reads) <= 12, reads
