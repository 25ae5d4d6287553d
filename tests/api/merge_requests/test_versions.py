"""Commits, diffs and versions of merge requests, also after changes of the source branch."""

import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ingot.collaboration.merge_requests.versions.inspection import VersionComparison, compare_with_target
from ingot.collaboration.merge_requests.versions.source_tracker import HeadTracker
from ingot.git.diffs import patches
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, statements_of
from tests.git_history import repository_of, run

Sample = tuple[User, Project, dict[str, Any], str]
BRIEF = {"id", "short_id", "title", "author_name", "author_email", "created_at", "message"}


@pytest.fixture(scope="module")
def sample(make: Make) -> Sample:
    """Return a merge request of two commits into a target that has diverged."""
    owner = make.user()
    project = filled_project(make, owner)
    made = make_merge_request(make, project, owner, "topic")
    commit(make, project, "master", {"aside": "x\n"}, owner)
    head = commit(make, project, "topic", {"README": "one\n2\nthree\n"}, owner, action="update", message="Count")
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    return owner, project, make.api.get(url, owner).json(), head


def test_a_push_updates_the_head(sample: Sample) -> None:
    _, _, shown, head = sample
    assert shown["sha"] == shown["diff_refs"]["head_sha"] == head
    assert shown["changes_count"] == "2"


def test_commits_are_those_missing_in_the_target(api: Api, instance: Instance, sample: Sample) -> None:
    owner, project, shown, _ = sample
    answer = api.get(f"/projects/{project.id}/merge_requests/{shown['iid']}/commits", owner)
    expected = run(repository_of(instance, project).path, "rev-list", "master..topic").split()
    assert [one["id"] for one in answer.json()] == expected
    assert answer.json()[0].keys() >= BRIEF
    assert (answer.json()[0]["title"], answer.headers["x-total"]) == ("Count", "2")
    second = api.get(f"/projects/{project.id}/merge_requests/{shown['iid']}/commits", owner, per_page=1, page=2)
    assert [one["id"] for one in second.json()] == expected[1:]


def _names(path: Path, old: str, new: str) -> list[str]:
    return run(path, "diff", "--name-only", f"{old}...{new}").split()


def test_changes_match_git(api: Api, instance: Instance, sample: Sample) -> None:
    owner, project, shown, _ = sample
    answer = api.get(f"/projects/{project.id}/merge_requests/{shown['iid']}/changes", owner).json()
    assert [change["new_path"] for change in answer["changes"]] == _names(
        repository_of(instance, project).path, "master", "topic"
    )
    readme = answer["changes"][0]
    assert (readme["old_path"], readme["a_mode"], readme["b_mode"]) == ("README", "100644", "100644")
    assert (readme["new_file"], readme["renamed_file"], readme["deleted_file"]) == (False, False, False)
    assert "-two\n+2\n" in readme["diff"]
    assert (answer["title"], answer["overflow"]) == (shown["title"], False)
    diffs = api.get(f"/projects/{project.id}/merge_requests/{shown['iid']}/diffs", owner)
    assert (diffs.json(), diffs.headers["x-total"]) == (answer["changes"], "2")
    raw = api.get(f"/projects/{project.id}/merge_requests/{shown['iid']}/raw_diffs", owner)
    assert raw.text.startswith("diff --git a/README b/README")


def test_raw_diffs_are_those_of_git_and_are_cached(
    api: Api, instance: Instance, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, project, shown, _ = sample
    url = f"/projects/{project.id}/merge_requests/{shown['iid']}/raw_diffs"
    wanted = run(repository_of(instance, project).path, "diff", "-M", "master...topic") + "\n"
    assert api.get(url, owner).text == wanted

    def no_process(*_: object, **__: object) -> None:
        raise AssertionError("git was started again")

    monkeypatch.setattr(patches, "run_git", no_process)
    assert api.get(url, owner).text == wanted


def test_every_push_creates_a_version(api: Api, sample: Sample) -> None:
    owner, project, shown, head = sample
    versions = api.get(f"/projects/{project.id}/merge_requests/{shown['iid']}/versions", owner).json()
    assert len(versions) == 2
    newest, first = versions
    assert newest.keys() == {
        "id",
        "head_commit_sha",
        "base_commit_sha",
        "start_commit_sha",
        "created_at",
        "merge_request_id",
        "state",
        "real_size",
        "patch_id_sha",
    }
    raw = api.get(f"/projects/{project.id}/merge_requests/{shown['iid']}/raw_diffs", owner).content
    computed = subprocess.run(["git", "patch-id", "--stable"], input=raw, capture_output=True, check=True).stdout
    assert newest["patch_id_sha"] == computed.split()[0].decode() != first["patch_id_sha"]
    assert (newest["head_commit_sha"], newest["merge_request_id"]) == (head, shown["id"])
    assert (newest["state"], newest["real_size"], first["real_size"]) == ("collected", "2", "1")
    assert newest["base_commit_sha"] == first["base_commit_sha"] == first["start_commit_sha"]
    assert newest["start_commit_sha"] != newest["base_commit_sha"]
    url = f"/projects/{project.id}/merge_requests/{shown['iid']}/versions/{first['id']}"
    whole = api.get(url, owner).json()
    assert [one["id"] for one in whole["commits"]] == [first["head_commit_sha"]]
    assert [change["new_path"] for change in whole["diffs"]] == ["topic.txt"]


@pytest.mark.parametrize(("version", "status"), [("0", 404), ("99999999", 404), ("x", 400), (str(2**63), 400)])
def test_a_missing_version(api: Api, sample: Sample, version: str, status: int) -> None:
    owner, project, shown, _ = sample
    url = f"/projects/{project.id}/merge_requests/{shown['iid']}/versions/{version}"
    assert api.get(url, owner).status_code == status


def test_versions_of_other_merge_requests_are_not_found(api: Api, make: Make, sample: Sample) -> None:
    owner, project, shown, _ = sample
    other = make_merge_request(make, project, owner)
    versions = api.get(f"/projects/{project.id}/merge_requests/{other['iid']}/versions", owner).json()
    url = f"/projects/{project.id}/merge_requests/{shown['iid']}/versions/{versions[0]['id']}"
    assert api.get(url, owner).status_code == 404


def test_versions_survive_force_pushes_and_deleted_sources(api: Api, instance: Instance, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    made = make_merge_request(make, project, owner)
    branch = made["source_branch"]
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    sent = {
        "branch": branch,
        "start_branch": "master",
        "force": True,
        "commit_message": "Anew",
        "actions": [{"action": "create", "file_path": "anew", "content": "x\n"}],
    }
    forced = api.post(f"/projects/{project.id}/repository/commits", owner, **sent)
    assert forced.status_code == 201, forced.text
    assert api.get(url, owner).json()["sha"] == forced.json()["id"]
    api.delete(f"/projects/{project.id}/repository/branches/{branch}", owner)
    path = repository_of(instance, project).path
    run(path, "gc", "--prune=now", "--quiet")
    newest, first = api.get(f"{url}/versions", owner).json()
    for version, file in ((newest, "anew"), (first, f"{branch}.txt")):
        whole = api.get(f"{url}/versions/{version['id']}", owner).json()
        assert [change["new_path"] for change in whole["diffs"]] == [file]
    assert [one["new_path"] for one in api.get(f"{url}/changes", owner).json()["changes"]] == ["anew"]
    assert [one["title"] for one in api.get(f"{url}/commits", owner).json()] == ["Anew"]


def test_commits_of_a_deleted_fork_are_kept(api: Api, instance: Instance, make: Make) -> None:
    project = filled_project(make, visibility="public")
    person = make.user()
    copy = fork(make, project, person)
    commit(make, copy, "mine", {"mine": "x\n"}, person, start="master")
    sent = {"source_branch": "mine", "target_branch": "master", "title": "Mine", "target_project_id": project.id}
    made = api.post(f"/projects/{copy.id}/merge_requests", person, **sent).json()
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    head = commit(make, copy, "mine", {"more": "x\n"}, person)
    assert api.get(url, person).json()["sha"] == head
    assert repository_of(instance, project).tip(f"refs/merge-requests/{made['iid']}/head") == head
    assert api.get(f"{url}/commits", person).json()[0]["id"] == head
    assert repository_of(instance, project).tip("refs/heads/mine") is None
    assert api.delete(f"/projects/{copy.id}", person).status_code in (200, 202)
    run(repository_of(instance, project).path, "gc", "--prune=now", "--quiet")
    assert [one["new_path"] for one in api.get(f"{url}/changes", person).json()["changes"]] == ["mine", "more"]
    assert len(api.get(f"{url}/versions", person).json()) == 2


def test_users_without_access_to_the_target_see_nothing(api: Api, make: Make) -> None:
    person = make.user()
    project = filled_project(make, members={person: 20}, visibility="private")
    copy = fork(make, project, person)
    commit(make, copy, "mine", {"mine": "x\n"}, person, start="master")
    sent = {"source_branch": "mine", "target_branch": "master", "title": "Mine", "target_project_id": project.id}
    made = api.post(f"/projects/{copy.id}/merge_requests", person, **sent)
    assert made.status_code == 201
    url = f"/projects/{project.id}/merge_requests/{made.json()['iid']}"
    api.delete(f"/projects/{project.id}/members/{person.id}", make.root)
    for path in ("", "/commits", "/changes", "/versions", "/diffs", "/notes", "/discussions"):
        assert api.get(url + path, person).status_code == 404
    assert api.get("/merge_requests", person).json() == []
    commit(make, copy, "mine", {"more": "x\n"}, person)


def test_unrelated_histories(api: Api, instance: Instance, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    path = repository_of(instance, project).path
    tree = run(path, "mktree", input=b"")
    lone = run(path, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "Lone", tree)
    run(path, "update-ref", "refs/heads/lone", lone)
    sent = {"source_branch": "lone", "target_branch": "master", "title": "Lone"}
    made = api.post(f"/projects/{project.id}/merge_requests", owner, **sent)
    assert made.status_code == 201, made.text
    url = f"/projects/{project.id}/merge_requests/{made.json()['iid']}"
    assert made.json()["diff_refs"]["base_sha"] is None
    assert api.get(f"{url}/changes", owner).json()["changes"] == []
    assert [one["id"] for one in api.get(f"{url}/commits", owner).json()] == [lone]


def test_a_source_without_new_commits(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    api.post(f"/projects/{project.id}/repository/branches", owner, branch="same", ref="master")
    sent = {"source_branch": "same", "target_branch": "master", "title": "Same"}
    made = api.post(f"/projects/{project.id}/merge_requests", owner, **sent).json()
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    assert (made["changes_count"], made["state"]) == ("0", "opened")
    assert api.get(f"{url}/changes", owner).json()["changes"] == []
    assert api.get(f"{url}/commits", owner).json() == []
    assert api.get(f"{url}/versions", owner).json()[0]["state"] == "empty"


def test_deletion_removes_the_refs(api: Api, instance: Instance, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    made = make_merge_request(make, project, owner)
    assert api.delete(f"/projects/{project.id}/merge_requests/{made['iid']}", owner).status_code == 200
    instance.work()
    assert repository_of(instance, project).tip(f"refs/merge-requests/{made['iid']}/head") is None


LISTS = ["commits", "diffs", "versions", "notes", "discussions", "closes_issues", "participants", "changes"]


@pytest.mark.parametrize("name", LISTS)
def test_larger_lists_take_no_more_statements(api: Api, make: Make, sample: Sample, name: str) -> None:
    owner, project, shown, _ = sample
    one, many = (
        f"/projects/{project.id}/merge_requests/{iid}/{name}" for iid in (_small(api, make, sample), shown["iid"])
    )
    if name in ("notes", "discussions"):
        for number in range(3):
            api.post(f"{many}", owner, body=f"{number}")
    costs = [statements_of(make, partial(api.get, url, owner)) for url in (one, many)]
    assert costs[0] == costs[1]


def _small(api: Api, make: Make, sample: Sample) -> int:
    """Return a merge request with one of everything."""
    owner, project, _, _ = sample
    known = api.get(f"/projects/{project.id}/merge_requests", owner, source_branch="small").json()
    if known:
        iid: int = known[0]["iid"]
        return iid
    made = make_merge_request(make, project, owner, "small")
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    api.post(f"{url}/discussions", owner, body="x")
    small: int = made["iid"]
    return small


def test_diverged_commits_count(api: Api, sample: Sample) -> None:
    owner, project, shown, _ = sample
    url = f"/projects/{project.id}/merge_requests/{shown['iid']}"
    asked = {"include_diverged_commits_count": "true", "include_rebase_in_progress": "true"}
    found = api.get(url, owner, **asked).json()
    assert (found["diverged_commits_count"], found["rebase_in_progress"]) == (1, False)
    assert "diverged_commits_count" not in api.get(url, owner).json()


def test_a_job_repairs_an_interrupted_update(
    api: Api, instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = filled_project(make, visibility="public")
    person = make.user()
    copy = fork(make, project, person)
    first = commit(make, copy, "mine", {"mine": "x\n"}, person, start="master")
    sent = {"source_branch": "mine", "target_branch": "master", "title": "Mine", "target_project_id": project.id}
    made = api.post(f"/projects/{copy.id}/merge_requests", person, **sent).json()
    url = f"/projects/{project.id}/merge_requests/{made['iid']}"
    with monkeypatch.context() as patched:
        patched.setattr(HeadTracker, "_collect_now", lambda *_: None)
        head = commit(make, copy, "mine", {"more": "x\n"}, person)
    assert api.get(url, person).json()["sha"] == head
    assert len(api.get(f"{url}/versions", person).json()) == 1
    assert [one["id"] for one in api.get(f"{url}/commits", person).json()] == [first]
    instance.work()
    assert repository_of(instance, project).tip(f"refs/merge-requests/{made['iid']}/head") == head
    assert [one["id"] for one in api.get(f"{url}/commits", person).json()] == [head, first]
    assert len(api.get(f"{url}/versions", person).json()) == 2


def test_a_push_during_creation_is_recorded(api: Api, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    commit(make, project, "topic", {"a": "x\n"}, owner, start="master")
    pushed: list[str] = []

    def read_then_push(*asked: Any, **more: Any) -> VersionComparison:
        looked = compare_with_target(*asked, **more)
        if not pushed:
            pushed.append(commit(make, project, "topic", {"b": "x\n"}, owner))
        return looked

    monkeypatch.setattr("ingot.collaboration.merge_requests.create.compare_with_target", read_then_push)
    sent = {"source_branch": "topic", "target_branch": "master", "title": "Topic"}
    made = api.post(f"/projects/{project.id}/merge_requests", owner, **sent).json()
    shown = api.get(f"/projects/{project.id}/merge_requests/{made['iid']}", owner).json()
    assert shown["sha"] == shown["diff_refs"]["head_sha"] == pushed[0]


def test_a_deleted_and_recreated_branch(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    made = make_merge_request(make, project, owner)
    branch = made["source_branch"]
    api.delete(f"/projects/{project.id}/repository/branches/{branch}", owner)
    api.post(f"/projects/{project.id}/repository/branches", owner, branch=branch, ref=made["sha"])
    notes = api.get(f"/projects/{project.id}/merge_requests/{made['iid']}/notes", owner, sort="asc").json()
    assert [note["body"] for note in notes] == [
        f"deleted source branch `{branch}`",
        f"restored source branch `{branch}`",
    ]
