"""Pages of a review without scripts: comments on lines, pending comments, suggestions and viewed files."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project
from tests.client import Api, Make, User
from tests.factories import Project, add_members
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

TEN = "".join(f"line {number}\n" for number in range(1, 11))
CHANGED = TEN.replace("line 3\n", "line three\nline three and a half\n")
SPACES = TEN.replace("line 2", "line  2")


class ReviewedRequest:
    """A merge request that changes two files, one of them only in white space."""

    def __init__(self, make: Make, owner: User, project: Project) -> None:
        self.branch = make.name("branch")
        files = {"ten": CHANGED, "folder/spaces": SPACES}
        commit(make, project, self.branch, files, owner, start="master", action="update")
        sent = {"source_branch": self.branch, "target_branch": "master", "title": f"Change {self.branch}"}
        self.view: dict[str, Any] = make.api.post(f"{project.url}/merge_requests", owner, **sent).json()
        self.api = f"{project.url}/merge_requests/{self.view['iid']}"
        self.page = f"/{project.path}/-/merge_requests/{self.view['iid']}"

    def refs(self, api: Api, person: User) -> dict[str, Any]:
        """Return the commits of its diff."""
        refs: dict[str, Any] = api.get(self.api, person).json()["diff_refs"]
        return refs


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a project with two files."""
    made = filled_project(make, person, visibility="public")
    commit(make, made, "master", {"ten": TEN, "folder/spaces": TEN}, person)
    return made


@pytest.fixture
def opened(make: Make, person: User, project: Project) -> ReviewedRequest:
    """Return a new merge request."""
    return ReviewedRequest(make, person, project)


def _line(page: str, number: int) -> str:
    """Return the query of the link that opens the comment form of an added line."""
    found = re.search(rf'href="(\?at=d[0-9a-f]+__{number})"', page)
    assert found, page
    return found[1]


def test_pending_comments_are_seen_by_others_after_the_review(
    open_browser: Callable[[], Browser], api: Api, make: Make, person: User, opened: ReviewedRequest
) -> None:
    browser = open_browser().signed_in_as(person)
    changes = f"{opened.page}/diffs"
    at = _line(browser.get(changes).text, 4)
    form = browser.form(f"{changes}{at}", f"{opened.page}/line_notes")
    assert "Start a review" in browser.get(f"{changes}{at}").text
    fields = {**form.fields, "note[body]": "Both lines?", "note[start]": "_3", "review": "1"}
    answer = browser.post(form.action, data=fields)
    assert answer.status_code == 302, answer.text
    page = browser.get(changes).text
    assert "Both lines?" in page
    assert "Pending" in page
    (draft,) = api.get(f"{opened.api}/draft_notes", person).json()
    assert draft["position"]["line_range"]["start"]["new_line"] == 3
    assert "Both lines?" not in open_browser().get(changes).text
    other = open_browser().signed_in_as(make.user(password="correct horse battery"))
    assert "Both lines?" not in other.get(changes).text

    one = f"{opened.page}/draft_notes/{draft['id']}"
    assert browser.submit(changes, one, does="put", fields={"note[body]": "Both lines!"}).status_code == 302
    assert browser.submit(changes, one, does="put", fields={"note[body]": " "}).status_code == 422
    review = f"{opened.page}/review"
    sent = browser.submit(changes, review, does="post", fields={"note[body]": "In all: fine", "event": "approve"})
    assert (sent.status_code, sent.headers["location"]) == (302, opened.page)
    assert "Both lines!" in other.get(changes).text
    assert "In all: fine" in other.get(opened.page).text
    assert api.get(f"{opened.api}/approvals", person).json()["user_has_approved"] is True


def test_a_review_can_be_discarded(browser: Browser, api: Api, person: User, opened: ReviewedRequest) -> None:
    browser.signed_in_as(person)
    begun = api.post(f"{opened.api}/discussions", person, body="Why?").json()
    reply = f"{opened.page}/discussions/{begun['id']}"
    form = browser.form(f"{reply}/notes/new", f"{reply}/notes")
    assert 'formaction="' in browser.get(f"{reply}/notes/new").text
    sent = browser.post(f"{reply}/draft_notes", data={**form.fields, "note[body]": "Because"})
    assert sent.status_code == 302, sent.text
    assert [each["note"] for each in api.get(f"{opened.api}/draft_notes", person).json()] == ["Because"]
    assert "1 unresolved thread" in browser.get(opened.page).text
    assert browser.submit(opened.page, f"{opened.page}/review", does="delete").status_code == 302
    assert api.get(f"{opened.api}/draft_notes", person).json() == []


def test_a_refused_comment_is_kept_in_the_form(browser: Browser, person: User, opened: ReviewedRequest) -> None:
    browser.signed_in_as(person)
    changes = f"{opened.page}/diffs"
    form = browser.form(f"{changes}{_line(browser.get(changes).text, 4)}", f"{opened.page}/line_notes")
    fields = {**form.fields, "note[body]": "Kept text", "note[start]": "999_999"}
    refused = browser.post(form.action, data=fields)
    assert (refused.status_code, "Kept text" in refused.text) == (422, True)


def test_suggestions_are_applied_together(browser: Browser, api: Api, person: User, opened: ReviewedRequest) -> None:
    browser.signed_in_as(person)
    position = {**opened.refs(api, person), "position_type": "text", "old_path": "ten", "new_path": "ten"}
    ids = []
    for line, text in ((3, "<b>3</b>"), (4, "four")):
        body = f"So:\n\n```suggestion\n{text}\n```"
        sent = {"body": body, "position": {**position, "new_line": line}}
        made = api.post(f"{opened.api}/discussions", person, **sent).json()
        ids.append(made["notes"][0]["suggestions"][0]["id"])
    page = browser.get(f"{opened.page}/diffs").text
    assert page.count("Apply suggestion<") == 2
    assert "&lt;b&gt;3&lt;/b&gt;" in page
    action = f"{opened.page}/suggestions"
    token = browser.token()
    assert browser.post(action, data={"authenticity_token": token}).status_code == 422
    applied = browser.post(action, data={"authenticity_token": token, "ids[]": ids})
    assert applied.status_code == 302, applied.text
    after = browser.get(opened.page).text
    assert after.count(">Applied<") == 2
    assert "All threads resolved" in after
    again = browser.post(action, data={"authenticity_token": token, "ids[]": ids[:1]})
    assert again.status_code == 422


def test_viewed_files_are_remembered_while_they_are_the_same(
    browser: Browser, make: Make, person: User, project: Project, opened: ReviewedRequest
) -> None:
    browser.signed_in_as(person)
    changes = f"{opened.page}/diffs"
    forms = re.findall(
        r'name="file" value="([^"]+)"><input type="hidden" name="digest" value="([^"]+)"', browser.get(changes).text
    )
    assert {path for path, _ in forms} == {"ten", "folder/spaces"}
    token = browser.token()
    for path, digest in forms:
        data = {"authenticity_token": token, "file": path, "digest": digest, "viewed": "1"}
        assert browser.post(f"{opened.page}/viewed", data=data).status_code == 302
    page = browser.get(changes).text
    assert "<span data-viewed-count>2</span> of 2 viewed" in page
    assert page.count('name="viewed" value="1" checked') == 2
    commit(make, project, opened.branch, {"ten": f"{CHANGED}more\n"}, person, action="update")
    assert "<span data-viewed-count>1</span> of 2 viewed" in browser.get(changes).text
    part = {"authenticity_token": token, "file": "folder/spaces", "digest": "x", "anchor": "d1"}
    answer = browser.post(f"{opened.page}/viewed", data=part, headers={"hx-request": "true"})
    assert (answer.status_code, "checked" in answer.text) == (200, False)
    assert "<span data-viewed-count>0</span>" in browser.get(changes).text


def test_white_space_can_be_left_out(browser: Browser, opened: ReviewedRequest) -> None:
    assert "No changes other than white space." not in browser.get(f"{opened.page}/diffs").text
    hidden = browser.get(f"{opened.page}/diffs?w=1").text
    assert "No changes other than white space." in hidden
    assert "line three and a half" in hidden
    assert "White space hidden" in hidden


def test_a_review_requests_changes_until_they_are_withdrawn_or_approved(
    browser: Browser, api: Api, make: Make, project: Project, opened: ReviewedRequest
) -> None:
    reviewer = make.user(password=PASSWORD)
    add_members(make, project, {reviewer: Level.DEVELOPER})
    browser.signed_in_as(reviewer)
    review = f"{opened.page}/review"
    assert 'value="request_changes"' in browser.get(f"{opened.page}/diffs").text
    fields = {"note[body]": "Not yet", "event": "request_changes"}
    assert browser.submit(opened.page, review, does="post", fields=fields).status_code == 302
    page = browser.get(opened.page).text
    assert f"Changes were requested by @{reviewer.username}." in page
    assert "Not ready to merge" in page and 'value="request_changes"' not in page
    assert browser.submit(opened.page, review, does="post", fields={"event": "withdraw"}).status_code == 302
    assert "Changes were requested" not in browser.get(opened.page).text
    assert browser.submit(opened.page, review, does="post", fields={"event": "request_changes"}).status_code == 302
    assert browser.submit(opened.page, review, does="post", fields={"event": "approve"}).status_code == 302
    assert "Changes were requested" not in browser.get(opened.page).text


def test_authors_are_not_offered_to_request_changes(browser: Browser, person: User, opened: ReviewedRequest) -> None:
    assert 'value="request_changes"' not in browser.signed_in_as(person).get(opened.page).text
