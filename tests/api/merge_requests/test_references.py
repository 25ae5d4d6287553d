"""References in texts and commits: notes, closed issues, and the merge requests of a commit."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.api.merging.merge_calls import merged
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project

Sample = tuple[User, Project]


@pytest.fixture(scope="module")
def sample(make: Make) -> Sample:
    """Return a public project and its owner."""
    owner = make.user()
    return owner, filled_project(make, owner, visibility="public")


def _system_notes(api: Api, project: Project, what: str, iid: int, person: User) -> list[str]:
    found = api.get(f"/projects/{project.id}/{what}/{iid}/notes", person, sort="asc", per_page=100)
    assert found.status_code == 200, found.text
    return [note["body"] for note in found.json()]


def _iids(api: Api, url: str, person: User) -> list[int]:
    return [one["iid"] for one in api.get(url, person).json()]


def test_urls_close_and_mention(api: Api, make: Make, instance: Instance, sample: Sample) -> None:
    """A URL counts like a reference, in texts, notes and commits; one of another instance does not."""
    owner, project = sample
    closed, mentioned, later, foreign = (make_issue(make, project, owner) for _ in range(4))
    at = f"{instance.settings.base_url}/{project.path}"
    first = make_merge_request(make, project, owner)
    text = (
        f"Closes {at}/issues/{closed['iid']}, see {at}/-/issues/{mentioned['iid']} and "
        f"{at}/merge_requests/{first['iid']}. Fixes https://elsewhere.example.org/{project.path}/issues/{foreign['iid']}"
    )
    made = make_merge_request(make, project, owner, description=text)
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"

    assert _iids(api, f"{url}/closes_issues", owner) == [closed["iid"]]
    assert _iids(api, f"/projects/{project.id}/issues/{closed['iid']}/closed_by", owner) == [made["iid"]]
    by = f"mentioned in merge request !{made['iid']}"
    assert _system_notes(api, project, "issues", mentioned["iid"], owner) == [by]
    assert _system_notes(api, project, "merge_requests", first["iid"], owner) == [by]
    commit(make, project, made["source_branch"], {"more": "x"}, owner, message=f"Fixes {at}/issues/{later['iid']}")
    assert _iids(api, f"{url}/closes_issues", owner) == [closed["iid"], later["iid"]]
    api.post(
        f"/projects/{project.id}/merge_requests/{first['iid']}/notes", owner, body=f"As {at}/issues/{later['iid']}"
    )
    assert f"mentioned in merge request !{first['iid']}" in _system_notes(api, project, "issues", later["iid"], owner)
    issue = make_issue(make, project, owner, description=f"See {at}/merge_requests/{made['iid']}")
    below = _system_notes(api, project, "merge_requests", made["iid"], owner)
    assert f"mentioned in issue #{issue['iid']}" in below

    merged(api, project, made, owner)
    states = [api.get(f"/projects/{project.id}/issues/{one['iid']}", owner).json()["state"] for one in (closed, later)]
    assert states == ["closed", "closed"]
    assert _system_notes(api, project, "issues", foreign["iid"], owner) == []


def test_an_edit_changes_the_closed_issues(api: Api, make: Make, instance: Instance, sample: Sample) -> None:
    owner, project = sample
    first, second = (make_issue(make, project, owner)["iid"] for _ in range(2))
    made = make_merge_request(make, project, owner, description=f"Closes #{first}")
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    edited = api.put(
        url,
        owner,
        description=f"Closes {instance.settings.base_url}/{project.path}/issues/{second}",
        state_event="close",
    )
    assert edited.status_code == 200
    assert _iids(api, f"{url}/closes_issues", owner) == [second]


def test_the_merge_commit_names_each_closed_issue_once(api: Api, make: Make, sample: Sample) -> None:
    """Also if both the description and a commit close it."""
    owner, project = sample
    issue = make_issue(make, project, owner)["iid"]
    made = make_merge_request(make, project, owner, description=f"Closes #{issue}")
    commit(make, project, made["source_branch"], {"other": "x"}, owner, message=f"More\n\nCloses #{issue}")
    shown = merged(api, project, made, owner)

    message = api.get(f"{project.url}/repository/commits/{shown['merge_commit_sha']}", owner).json()["message"]
    assert f"\n\nCloses #{issue}\n\n" in message


def test_commits_mention_merge_requests(api: Api, make: Make, instance: Instance, sample: Sample) -> None:
    """By reference and URL, from this and another project; not their own merge request, nor by the merge commit."""
    owner, project = sample
    one, two = make_merge_request(make, project, owner), make_merge_request(make, project, owner)
    address = f"{instance.settings.base_url}/{project.path}/merge_requests/{two['iid']}"
    oid = commit(
        make, project, make.name("b"), {"x": "x"}, owner, start="master", message=f"As !{one['iid']}, and {address}"
    )
    for each in (one, two):
        said = _system_notes(api, project, "merge_requests", each["iid"], owner)
        assert said == [f"mentioned in commit {oid}"]
    other = filled_project(make, owner)
    oid = commit(make, other, "master", {"x": "x"}, owner, message=f"As {project.path}!{one['iid']}!")
    said = _system_notes(api, project, "merge_requests", one["iid"], owner)
    assert said[-1] == f"mentioned in commit {other.path}@{oid}"
    stranger = make.user()
    assert f"{other.path}@{oid}" not in str(_system_notes(api, project, "merge_requests", one["iid"], stranger))

    commit(make, project, one["source_branch"], {"own": "x"}, owner, message=f"More of !{one['iid']}")
    shown = merged(api, project, one, owner)
    below = "\n".join(_system_notes(api, project, "merge_requests", one["iid"], owner))
    assert "More of" in below
    assert f"mentioned in commit {shown['merge_commit_sha']}" not in below
    assert f"mentioned in commit {shown['sha']}" not in below


def test_commits_mention_only_objects_visible_to_their_author(api: Api, make: Make, sample: Sample) -> None:
    owner, _ = sample
    hidden, person = filled_project(make, owner), make.user()
    made = make_merge_request(make, hidden, owner)
    theirs = filled_project(make, person)
    commit(make, theirs, "master", {"x": "x"}, person, message=f"As {hidden.path}!{made['iid']}")
    assert _system_notes(api, hidden, "merge_requests", made["iid"], owner) == []


def _merge_requests_of(api: Api, project: Project, oid: str, person: User) -> list[int]:
    answer = api.get(f"/projects/{project.id}/repository/commits/{oid}/merge_requests", person)
    assert answer.status_code == 200, answer.text
    return [one["iid"] for one in answer.json()]


def test_every_commit_of_every_version_is_recorded(api: Api, make: Make, sample: Sample) -> None:
    """Intermediate commits, commits removed by a force push, and merge commits."""
    owner, project = sample
    made = make_merge_request(make, project, owner, squash=True)
    branch: str = made["source_branch"]
    middle = commit(make, project, branch, {"middle": "x"}, owner)
    lost = commit(make, project, branch, {"lost": "x"}, owner)
    forced: dict[str, Any] = {"start_sha": middle, "force": True, "branch": branch, "commit_message": "Again"}
    forced["actions"] = [{"action": "create", "file_path": "again", "content": "x"}]
    again = api.post(f"/projects/{project.id}/repository/commits", owner, **forced)
    assert again.status_code == 201, again.text
    known = [made["sha"], middle, lost, again.json()["id"]]
    for oid in known:
        assert _merge_requests_of(api, project, oid, owner) == [made["iid"]]
    twin = make_merge_request(make, project, owner)
    assert made["iid"] not in _merge_requests_of(api, project, made["diff_refs"]["base_sha"], owner)
    shown = merged(api, project, made, owner)
    for oid in (*known, shown["merge_commit_sha"], shown["squash_commit_sha"]):
        assert _merge_requests_of(api, project, oid, owner) == [made["iid"]]
    assert _merge_requests_of(api, project, twin["sha"], owner) == [twin["iid"]]


def test_commits_from_forks_are_recorded_in_the_target(api: Api, make: Make) -> None:
    """Only there, and shown only to users who can see the merge request."""
    owner, person, reader = make.user(), make.user(), make.user()
    project = filled_project(make, owner, visibility="public", members={reader: Level.REPORTER})
    copy = fork(make, project, person)
    first = commit(make, copy, "mine", {"mine": "x"}, person, start="master")
    commit(make, copy, "mine", {"more": "x"}, person)
    sent = {"source_branch": "mine", "target_branch": "master", "title": "Mine", "target_project_id": project.id}
    made = api.post(f"/projects/{copy.id}/merge_requests", person, **sent).json()
    assert _merge_requests_of(api, project, first, reader) == [made["iid"]]
    assert _merge_requests_of(api, copy, first, person) == []
    assert api.delete(f"/projects/{project.id}/merge_requests/{made['iid']}", owner).status_code == 200
    assert _merge_requests_of(api, project, first, reader) == []
