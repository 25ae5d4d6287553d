"""Merge conflicts that are resolved on a page."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.merge_requests.factories import commit, filled_project, fork
from tests.client import Api, Make, User
from tests.web.browser import Browser, Form

LINES = "".join(f"line {number}\n" for number in range(1, 21))
OURS = LINES.replace("line 3\n", "ours 3\n").replace("line 15\n", "ours 15\n")
THEIRS = LINES.replace("line 3\n", "theirs 3\n").replace("line 15\n", "theirs 15\n").replace("line 20\n", "end\n")


class ConflictScene:
    """A merge request with conflicts in three files: in lines, in a deleted file, and in a binary file."""

    def __init__(self, make: Make, owner: User) -> None:
        self.project = filled_project(make, owner, visibility="public")
        first = {"lines": LINES, "gone": "old\n", "heading": "one\n=======\ntwo"}
        commit(make, self.project, "master", first, owner)
        changed = {"lines": OURS, "gone": "changed\n", "heading": "one\n=======\nours"}
        commit(make, self.project, "topic", changed, owner, start="master", action="update")
        commit(
            make, self.project, "master", {"lines": THEIRS, "heading": "one\n=======\ntheirs"}, owner, action="update"
        )
        deleted: dict[str, Any] = {"branch": "master", "commit_message": "Delete"}
        make.api.request("DELETE", f"{self.project.url}/repository/files/gone", owner, json=deleted)
        sent = {"source_branch": "topic", "target_branch": "master", "title": "Ours"}
        self.iid = make.api.post(f"{self.project.url}/merge_requests", owner, **sent).json()["iid"]
        self.api = f"{self.project.url}/merge_requests/{self.iid}"
        self.page = f"/{self.project.path}/-/merge_requests/{self.iid}"

    def file(self, api: Api, person: User, name: str) -> str | None:
        """Return the content of a file on the source branch, or None."""
        answer = api.get(f"{self.project.url}/repository/files/{name}/raw", person, ref="topic")
        return answer.text if answer.status_code == 200 else None


@pytest.fixture
def scene(make: Make, person: User) -> ConflictScene:
    """Return a merge request with conflicts."""
    return ConflictScene(make, person)


def _form(browser: Browser, scene: ConflictScene) -> Form:
    return browser.form(f"{scene.page}/conflicts", f"{scene.page}/resolve_conflicts")


def _choices(browser: Browser, scene: ConflictScene) -> dict[str, str]:
    """Return the fields that choose the source for the first conflict and the target for the others."""
    files = browser.get(f"{scene.page}/conflicts.json").json()["files"]
    fields = {}
    for number, file in enumerate(files):
        fields[f"files[{number}][path]"] = file["new_path"]
        fields[f"files[{number}][mode]"] = "sections"
        ids = [section["id"] for section in file["sections"] if section["conflict"]]
        for position, section in enumerate(ids):
            fields[f"files[{number}][sections][{section}]"] = "ours" if position == 0 else "theirs"
        if file["new_path"] == "gone":
            fields[f"files[{number}][mode]"] = "theirs"
    return fields


def test_sides_are_chosen_per_conflict(browser: Browser, api: Api, person: User, scene: ConflictScene) -> None:
    assert "Resolve conflicts" in browser.signed_in_as(person).get(scene.page).text
    form = _form(browser, scene)
    fields = {**form.fields, **_choices(browser, scene), "message": "Settle it"}
    answer = browser.post(form.action, data=fields)
    assert (answer.status_code, answer.headers.get("location")) == (302, scene.page), answer.text
    expected = LINES.replace("line 3\n", "ours 3\n").replace("line 15\n", "theirs 15\n").replace("line 20\n", "end\n")
    assert scene.file(api, person, "lines") == expected
    assert scene.file(api, person, "gone") is None
    assert scene.file(api, person, "heading") == "one\n=======\nours"
    head = api.get(f"{scene.project.url}/repository/commits/topic", person).json()
    assert (head["title"], len(head["parent_ids"])) == ("Settle it", 2)
    merged = api.put(f"{scene.api}/merge", person)
    assert merged.status_code == 200, merged.text
    assert "No conflicts to resolve here" not in browser.get(scene.page).text


def test_a_file_is_edited(browser: Browser, api: Api, person: User, scene: ConflictScene) -> None:
    browser.signed_in_as(person)
    form = _form(browser, scene)
    fields = {**form.fields, **_choices(browser, scene), "message": "Edit"}
    number = next(name for name, value in fields.items() if value == "lines").split("]")[0] + "]"
    fields |= {f"{number}[mode]": "edit", f"{number}[content]": "<<<<<<< topic\r\nx\r\n"}
    refused = browser.post(form.action, data=fields)
    assert (refused.status_code, "still contains conflict markers" in refused.text) == (422, True)
    fields |= {f"{number}[content]": "all\r\nnew\r\n"}
    assert browser.post(form.action, data={**fields, "message": " "}).status_code == 422
    assert browser.post(form.action, data=fields).status_code == 302
    assert scene.file(api, person, "lines") == "all\nnew\n"


def test_every_conflict_must_be_resolved(browser: Browser, api: Api, person: User, scene: ConflictScene) -> None:
    browser.signed_in_as(person)
    form = _form(browser, scene)
    fields = {**form.fields, **_choices(browser, scene), "message": "Some"}
    without = {name: value for name, value in fields.items() if "[sections]" not in name}
    before = api.get(f"{scene.project.url}/repository/commits/topic", person).json()["id"]
    assert browser.post(form.action, data=without).status_code == 422
    unchosen = {name: value for name, value in fields.items() if "files" not in name}
    assert browser.post(form.action, data=unchosen).status_code == 422
    assert api.get(f"{scene.project.url}/repository/commits/topic", person).json()["id"] == before


def test_a_push_meanwhile_loses_nothing(
    browser: Browser, api: Api, make: Make, person: User, scene: ConflictScene
) -> None:
    browser.signed_in_as(person)
    form = _form(browser, scene)
    fields = {**form.fields, **_choices(browser, scene), "message": "Mine, kept"}
    pushed = commit(make, scene.project, "topic", {"more": "x\n"}, person)
    answer = browser.post(form.action, data=fields)
    assert answer.status_code == 409, answer.text
    assert "The source branch has changed" in answer.text
    assert "Mine, kept" in answer.text
    assert answer.text.count('value="ours" checked') == 2
    assert api.get(f"{scene.project.url}/repository/commits/topic", person).json()["id"] == pushed
    # The target may have new commits: they are merged another time.
    form = _form(browser, scene)
    fields |= {name: form.fields[name] for name in ("head", "target")}
    commit(make, scene.project, "master", {"later": "x\n"}, person)
    for wrong in ("0" * 40, "master", "--all", ""):
        assert browser.post(form.action, data={**fields, "target": wrong}).status_code == 409
    assert browser.post(form.action, data=fields).status_code == 302


def test_only_those_who_may_push_resolve_conflicts(
    open_browser: Callable[[], Browser], make: Make, person: User, scene: ConflictScene
) -> None:
    assert open_browser().get(f"{scene.page}/conflicts").status_code == 302
    other = open_browser().signed_in_as(make.user(password="correct horse battery"))
    assert "/conflicts" not in other.get(scene.page).text
    assert other.get(f"{scene.page}/conflicts").status_code in (403, 404)
    data = {"authenticity_token": other.token(), "head": "x", "target": "x", "message": "x"}
    assert other.post(f"{scene.page}/resolve_conflicts", data=data).status_code in (403, 404)


def test_conflicts_of_a_fork(browser: Browser, api: Api, make: Make, person: User, scene: ConflictScene) -> None:
    writer = make.user(password="correct horse battery")
    copied = fork(make, scene.project, writer)
    commit(make, copied, "patch", {"lines": OURS}, writer, start="topic", action="update")
    commit(make, copied, "patch", {"heading": "one\n=======\nfork"}, writer, action="update")
    sent = {"source_branch": "patch", "target_branch": "master", "title": "From a fork"}
    made = api.post(f"{copied.url}/merge_requests", writer, target_project_id=scene.project.id, **sent).json()
    page = f"/{scene.project.path}/-/merge_requests/{made['iid']}"
    browser.signed_in_as(writer)
    form = browser.form(f"{page}/conflicts", f"{page}/resolve_conflicts")
    paths = [file["new_path"] for file in browser.get(f"{page}/conflicts.json").json()["files"]]
    fields = {**form.fields, "message": "Keep the fork"}
    for number, path in enumerate(paths):
        fields |= {f"files[{number}][path]": path, f"files[{number}][mode]": "ours"}
    answer = browser.post(form.action, data=fields)
    assert answer.status_code == 302, answer.text
    assert api.get(f"{scene.project.url}/merge_requests/{made['iid']}", person).json()["has_conflicts"] is False
