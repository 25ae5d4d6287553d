"""Reviews: draft notes, comments on several lines, and suggestions that become commits."""

from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project
from tests.client import Api, Make, User
from tests.factories import Project

TEN = "".join(f"line {number}\n" for number in range(1, 11))
CHANGED = TEN.replace("line 3\n", "line three\nline three and a half\n").replace("line 8\n", "")


class ReviewSample(NamedTuple):
    """A project with an open merge request that changes lines of a file."""

    owner: User
    reviewer: User
    reader: User
    project: Project


@pytest.fixture(scope="module")
def sample(make: Make) -> ReviewSample:
    """Return a public project with its owner, a developer and a user without a role."""
    owner, reviewer, reader = make.user(), make.user(), make.user()
    project = filled_project(make, owner, visibility="public", members={reviewer: Level.DEVELOPER})
    commit(make, project, "master", {"ten": TEN}, owner)
    return ReviewSample(owner, reviewer, reader, project)


def _open(make: Make, sample: ReviewSample) -> dict[str, Any]:
    branch = make.name("branch")
    commit(make, sample.project, branch, {"ten": CHANGED}, sample.owner, start="master", action="update")
    sent = {"source_branch": branch, "target_branch": "master", "title": f"Change {branch}"}
    made = make.api.post(f"{sample.project.url}/merge_requests", sample.owner, **sent)
    assert made.status_code == 201, made.text
    url = f"{sample.project.url}/merge_requests/{made.json()['iid']}"
    shown: dict[str, Any] = make.api.get(url, sample.owner).json()
    return {**shown, "url": url}


def _position(merge_request: dict[str, Any], **lines: Any) -> dict[str, Any]:
    return {**merge_request["diff_refs"], "position_type": "text", "old_path": "ten", "new_path": "ten", **lines}


def _discussions(api: Api, merge_request: dict[str, Any], person: User) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"{merge_request['url']}/discussions", person).json()
    return [discussion for discussion in found if not discussion["notes"][0]["system"]]


def test_only_the_author_sees_draft_notes(api: Api, make: Make, sample: ReviewSample) -> None:
    merge_request = _open(make, sample)
    drafts = f"{sample.project.url}/merge_requests/{merge_request['iid']}/draft_notes"
    made = api.post(drafts, sample.reader, note="Perhaps?", position=_position(merge_request, new_line=3))
    assert made.status_code == 201, made.text
    draft = made.json()
    assert (draft["author_id"], draft["merge_request_id"]) == (sample.reader.id, merge_request["id"])
    assert (draft["position"]["new_line"], draft["discussion_id"], draft["resolve_discussion"]) == (3, None, False)
    assert draft["line_code"].endswith("_0_3")
    general = api.post(drafts, sample.reader, note="In general").json()
    assert (general["line_code"], general["position"]["base_sha"]) == (None, None)
    assert [each["note"] for each in api.get(drafts, sample.reader).json()] == ["Perhaps?", "In general"]
    one = f"{sample.project.url}/merge_requests/{merge_request['iid']}/draft_notes/{draft['id']}"
    publish = f"{sample.project.url}/merge_requests/{merge_request['iid']}/draft_notes/{draft['id']}/publish"
    assert api.get(one, sample.reader).json() == draft
    assert api.get(drafts, sample.owner).json() == []
    assert api.get(drafts).status_code == 401
    for call in (api.get, api.delete):
        assert call(one, sample.owner).status_code == 404
    assert api.put(one, sample.owner, note="Mine").status_code == 404
    assert api.put(publish, sample.owner).status_code == 404
    assert _discussions(api, merge_request, sample.owner) == []
    assert api.get(merge_request["url"], sample.owner).json()["user_notes_count"] == 0

    moved = api.put(one, sample.reader, note="Surely", position=_position(merge_request, new_line=4)).json()
    assert (moved["note"], moved["position"]["new_line"]) == ("Surely", 4)
    assert api.put(one, sample.reader).status_code == 400
    assert api.put(publish, sample.reader).status_code == 204
    assert [each["notes"][0]["body"] for each in _discussions(api, merge_request, sample.owner)] == ["Surely"]
    assert api.delete(f"{drafts}/{general['id']}", sample.reader).status_code == 204
    assert api.get(drafts, sample.reader).json() == []


def test_a_review_is_published_at_once(api: Api, make: Make, sample: ReviewSample) -> None:
    merge_request = _open(make, sample)
    url = merge_request["url"]
    begun = api.post(f"{url}/discussions", sample.owner, body="Should this stay?").json()
    drafts = f"{sample.project.url}/merge_requests/{merge_request['iid']}/draft_notes"
    answer = {"in_reply_to_discussion_id": begun["id"], "resolve_discussion": True}
    assert api.post(drafts, sample.reviewer, note="It should.", **answer).status_code == 201
    api.post(drafts, sample.reviewer, note="Better name?", position=_position(merge_request, new_line=3))
    api.post(drafts, sample.reviewer, note="Good\n/label ~reviewed")
    api.post(drafts, sample.owner, note="Not part of this review")
    # A push between the comment and the review moves the line.
    pushed = {"ten": f"first\n{CHANGED}"}
    commit(make, sample.project, merge_request["source_branch"], pushed, sample.owner, action="update")
    published = f"{sample.project.url}/merge_requests/{merge_request['iid']}/draft_notes/bulk_publish"
    assert api.post(published, sample.reviewer).status_code == 204

    replied, on_line, general = _discussions(api, merge_request, sample.owner)
    assert [note["body"] for note in replied["notes"]] == ["Should this stay?", "It should."]
    assert all(note["resolved"] for note in replied["notes"])
    assert (on_line["notes"][0]["position"]["new_line"], on_line["notes"][0]["type"]) == (4, "DiffNote")
    assert general["notes"][0]["body"] == "Good"
    assert api.get(drafts, sample.reviewer).json() == []
    assert len(api.get(drafts, sample.owner).json()) == 1
    assert api.post(published, sample.reviewer).status_code == 204


@pytest.mark.parametrize(
    "wrong",
    [
        {"note": ""},
        {"note": "x", "in_reply_to_discussion_id": "nothing"},
        {"note": "x", "position": {"base_sha": "1"}},
        {"note": "x", "resolve_discussion": "perhaps"},
    ],
)
def test_invalid_draft_notes(api: Api, make: Make, sample: ReviewSample, wrong: dict[str, Any]) -> None:
    merge_request = _open(make, sample)
    assert api.post(f"{merge_request['url']}/draft_notes", sample.owner, **wrong).status_code in (400, 404)
    locked = api.put(merge_request["url"], sample.owner, discussion_locked=True)
    assert locked.status_code == 200
    assert api.post(f"{merge_request['url']}/draft_notes", sample.reader, note="x").status_code == 403


def test_comments_on_several_lines(api: Api, make: Make, sample: ReviewSample) -> None:
    merge_request = _open(make, sample)
    url, ends = f"{merge_request['url']}/discussions", {"start": {"new_line": 3}, "end": {"old_line": 4, "new_line": 5}}
    position = _position(merge_request, old_line=4, new_line=5, line_range=ends)
    made = api.post(url, sample.reader, body="Both", position=position)
    assert made.status_code == 201, made.text
    line_range = made.json()["notes"][0]["position"]["line_range"]
    assert (line_range["start"]["type"], line_range["start"]["new_line"]) == ("new", 3)
    assert (line_range["end"]["type"], line_range["end"]["old_line"], line_range["end"]["new_line"]) == (None, 4, 5)
    assert line_range["start"]["line_code"].endswith("_4_3")

    # Older clients send the codes of the lines only.
    codes = {name: {"line_code": end["line_code"], "type": end["type"] or ""} for name, end in line_range.items()}
    position = _position(merge_request, old_line=4, new_line=5, line_range=codes)
    draft = api.post(f"{merge_request['url']}/draft_notes", sample.reader, note="Again", position=position)
    assert draft.json()["position"]["line_range"] == line_range

    for wrong in (
        {"start": {"new_line": 9}, "end": {"new_line": 3}},
        {"start": {"old_line": 4, "new_line": 5}, "end": {"old_line": 1, "new_line": 1}},
        {"start": {"new_line": 3}},
        {"start": {"line_code": "nothing"}, "end": {"new_line": 3}},
    ):
        position = _position(merge_request, new_line=3, line_range=wrong)
        assert api.post(url, sample.reader, body="Wrong", position=position).status_code == 400
    assert len(_discussions(api, merge_request, sample.owner)) == 1

    commit(
        make, sample.project, merge_request["source_branch"], {"ten": f"0\n{CHANGED}"}, sample.owner, action="update"
    )
    moved = _discussions(api, merge_request, sample.owner)[0]["notes"][0]["position"]
    assert (moved["new_line"], moved["line_range"]["start"]["new_line"]) == (6, 4)


def test_suggestions_become_commits(api: Api, make: Make, sample: ReviewSample) -> None:
    merge_request = _open(make, sample)
    url, branch = f"{merge_request['url']}/discussions", merge_request["source_branch"]
    body = "Like this:\n\n```suggestion:-0+1\nline 3\nline 3b\n```\n"
    begun = api.post(url, sample.reader, body=body, position=_position(merge_request, new_line=3)).json()
    (suggestion,) = begun["notes"][0]["suggestions"]
    assert suggestion == {
        "id": suggestion["id"],
        "from_line": 3,
        "to_line": 4,
        "appliable": True,
        "applied": False,
        "from_content": "line three\nline three and a half\n",
        "to_content": "line 3\nline 3b\n",
    }
    second = api.post(
        url,
        sample.owner,
        body="```suggestion\n```",
        position=_position(merge_request, old_line=4, new_line=5),
    ).json()["notes"][0]["suggestions"][0]
    one = f"/suggestions/{suggestion['id']}/apply"
    assert api.put(one).status_code == 401
    assert api.put(one, sample.reader).status_code == 403
    assert api.put("/suggestions/999999/apply", sample.reviewer).status_code == 404
    applied = api.put("/suggestions/batch_apply", sample.reviewer, ids=[suggestion["id"], second["id"]])
    assert applied.status_code == 200, applied.text
    assert [each["applied"] for each in applied.json()] == [True, True]
    raw = api.get(f"{sample.project.url}/repository/files/ten/raw", sample.owner, ref=branch).text
    assert raw == TEN.replace("line 3\n", "line 3\nline 3b\n").replace("line 4\n", "").replace("line 8\n", "")
    head = api.get(f"{sample.project.url}/repository/commits/{branch}", sample.owner).json()
    assert head["title"] == "Apply 2 suggestion(s) to 1 file(s)"
    assert head["author_email"] != ""
    reader = api.get(f"/users/{sample.reader.id}", make.root).json()
    assert f"Co-authored-by: {reader['name']} <{reader['email']}>" in head["message"]
    again = api.put(one, sample.reviewer)
    assert (again.status_code, again.json()["message"]) == (400, "Can't apply this suggestion.")
    assert api.put("/suggestions/batch_apply", sample.reviewer, ids=[]).status_code == 400


def test_the_project_words_the_commits_of_suggestions(api: Api, make: Make, sample: ReviewSample) -> None:
    merge_request = _open(make, sample)
    template = {"suggestion_commit_message": "Take %{suggestions_count} into %{branch_name} of %{project_path}"}
    assert api.put(sample.project.url, sample.owner, **template).status_code == 200
    try:
        begun = api.post(
            f"{merge_request['url']}/discussions",
            sample.reader,
            body="```suggestion\nline 3\n```",
            position=_position(merge_request, new_line=3),
        ).json()
        suggestion = begun["notes"][0]["suggestions"][0]["id"]
        applied = api.put(f"/suggestions/{suggestion}/apply", sample.reviewer)
        assert applied.status_code == 200, applied.text
    finally:
        api.put(sample.project.url, sample.owner, suggestion_commit_message=None)
    branch = merge_request["source_branch"]
    head = api.get(f"{sample.project.url}/repository/commits/{branch}", sample.owner).json()
    assert head["title"] == f"Take 1 into {branch} of {sample.project.path.rpartition('/')[2]}"


def test_suggestions_that_cannot_be_applied(api: Api, make: Make, sample: ReviewSample) -> None:
    merge_request = _open(make, sample)
    url, branch = f"{merge_request['url']}/discussions", merge_request["source_branch"]

    def suggest(text: str, **lines: Any) -> int:
        position = _position(merge_request, **lines)
        made = api.post(url, sample.reader, body=f"```suggestion{text}\n```", position=position).json()
        identifier: int = made["notes"][0]["suggestions"][0]["id"]
        return identifier

    first, overlapping = suggest("\nother", new_line=3), suggest(":-0+2\nall", new_line=3)
    same = suggest("\nline three", new_line=3)
    both = api.put("/suggestions/batch_apply", sample.owner, ids=[first, overlapping])
    assert (both.status_code, "overlap" in both.json()["message"]) == (400, True)
    assert api.put(f"/suggestions/{same}/apply", sample.owner).status_code == 400
    changed = {"ten": CHANGED.replace("line three\n", "line trois\n")}
    commit(make, sample.project, branch, changed, sample.owner, action="update")
    refused = api.put(f"/suggestions/{first}/apply", sample.owner)
    assert (refused.status_code, "more recent version" in refused.json()["message"]) == (400, True)
    notes = [note for discussion in _discussions(api, merge_request, sample.owner) for note in discussion["notes"]]
    assert [each["appliable"] for note in notes for each in note["suggestions"]] == [False, False, False]
    api.put(merge_request["url"], sample.owner, state_event="close")
    assert api.put(f"/suggestions/{overlapping}/apply", sample.owner).status_code == 400
    protected = api.post(f"{sample.project.url}/protected_branches", sample.owner, name=branch, push_access_level=40)
    assert protected.status_code == 201
    api.put(merge_request["url"], sample.owner, state_event="reopen")
    assert api.put(f"/suggestions/{overlapping}/apply", sample.reviewer).status_code in (400, 403)


def test_edited_notes_have_the_suggestions_of_their_new_text(api: Api, make: Make, sample: ReviewSample) -> None:
    merge_request = _open(make, sample)
    position = _position(merge_request, new_line=3)
    begun = api.post(f"{merge_request['url']}/discussions", sample.reader, body="Hm", position=position).json()
    assert begun["notes"][0]["suggestions"] == []
    note = f"{merge_request['url']}/discussions/{begun['id']}/notes/{begun['notes'][0]['id']}"
    edited = api.put(note, sample.reader, body="~~~~suggestion:-1\n```\n~~~~\n\n```python\nno\n```").json()
    assert [each["to_content"] for each in edited["suggestions"]] == ["```\n"]
    assert (edited["suggestions"][0]["from_line"], edited["suggestions"][0]["to_line"]) == (2, 3)
    assert api.put(note, sample.reader, body="None").json()["suggestions"] == []
    general = api.post(f"{merge_request['url']}/notes", sample.reader, body="```suggestion\nx\n```").json()
    assert "suggestions" not in general


def test_hidden_suggestions_look_like_missing_ones(api: Api, make: Make, sample: ReviewSample) -> None:
    merge_request = _open(make, sample)
    sent = {"body": "```suggestion\nx\n```", "position": _position(merge_request, new_line=3)}
    made = api.post(f"{merge_request['url']}/discussions", sample.owner, **sent).json()
    identifier = made["notes"][0]["suggestions"][0]["id"]
    api.put(sample.project.url, sample.owner, visibility="private")
    hidden = api.put(f"/suggestions/{identifier}/apply", sample.reader)
    missing = api.put("/suggestions/999999/apply", sample.reader)
    api.put(sample.project.url, sample.owner, visibility="public")
    assert (hidden.status_code, hidden.text) == (404, missing.text)
