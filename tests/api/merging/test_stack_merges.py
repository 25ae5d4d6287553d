"""Merges of stacked merge requests: new targets, rewritten commits, and merges of a whole stack."""

from typing import Any
from unittest.mock import patch

import pytest

from ingot.collaboration.merge_requests.merge import perform, restack
from ingot.collaboration.merge_requests.merge.perform import merge
from ingot.collaboration.merge_requests.stacks import tree
from ingot.core.access.levels import Level
from ingot.git.writing.merge_request_commits import copy_commit
from ingot.repositories.ref_changes.apply import change_refs
from tests.api.merge_requests.factories import commit, filled_project
from tests.api.merge_requests.stacks import make_stack, open_layer
from tests.api.merging.merge_calls import merged, refused, tip, url
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members

LAYERS = ["one", "two", "three"]


@pytest.fixture
def owner(make: Make) -> User:
    """Return the owner of the project."""
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    """Return a project with a first commit."""
    return filled_project(make, owner)


def _shown(api: Api, project: Project, merge_request: dict[str, Any], who: User) -> dict[str, Any]:
    shown: dict[str, Any] = api.get(url(project, merge_request), who).json()
    return shown


def _changed(api: Api, project: Project, merge_request: dict[str, Any], who: User) -> list[str]:
    """Return the changed files."""
    changes = api.get(url(project, merge_request, "/changes"), who).json()["changes"]
    return sorted(change["new_path"] for change in changes)


def _titles(api: Api, project: Project, merge_request: dict[str, Any], who: User) -> list[str]:
    """Return the titles of the commits."""
    return [one["title"] for one in api.get(url(project, merge_request, "/commits"), who).json()]


def _lines(name: str, layer: int) -> dict[str, str]:
    """Return a file that each layer changes in the same place, so that only a right base merges without conflicts."""
    return {"shared.txt": f"{name}\n" * layer}


def _overlapping_stack(make: Make, project: Project, owner: User, **sent: Any) -> list[dict[str, Any]]:
    """Return a stack of three, of which each has two commits and changes the line of the one below."""
    commit(make, project, "master", {"shared.txt": "base\n"}, owner)
    made = []
    base = "master"
    for name in LAYERS:
        commit(make, project, name, {"shared.txt": f"{name}\n"}, owner, start=base, action="update", message=name)
        commit(make, project, name, {f"{name}.txt": "x\n"}, owner, message=f"{name} again")
        made.append(open_layer(make, project, owner, name, base, **sent))
        base = name
    return made


@pytest.mark.parametrize("removes", [False, True])
def test_next_layer_gets_the_target(api: Api, make: Make, owner: User, project: Project, removes: bool) -> None:
    """Also if the branch remains; the others keep their target."""
    one, two, three = make_stack(make, project, owner, LAYERS)
    merged(api, project, one, owner, should_remove_source_branch=removes)
    assert [_shown(api, project, each, owner)["target_branch"] for each in (two, three)] == ["master", "two"]
    assert _shown(api, project, three, owner)["stack"] == {
        "id": two["id"],
        "position": 2,
        "size": 2,
        "base": "master",
    }
    notes = [note["body"] for note in api.get(url(project, two, "/notes"), owner).json()]
    assert "changed target branch from `one` to `master`" in notes
    assert _changed(api, project, two, owner) == ["two.txt"]
    assert _titles(api, project, two, owner) == ["Add two"]


@pytest.mark.parametrize("protected", ["one", "master"])
def test_lasting_branches_keep_their_merge_requests(
    api: Api, make: Make, owner: User, project: Project, protected: str
) -> None:
    """Attack: the merge of a branch for development must not move the merge requests into it to production."""
    one, two = make_stack(make, project, owner, ["one", "two"])
    api.post(f"/projects/{project.id}/protected_branches", owner, name=protected, merge_access_level=30)
    merged(api, project, one, owner)
    assert _shown(api, project, two, owner)["target_branch"] == ("one" if protected == "one" else "master")


def test_layers_that_do_not_reach_the_base_are_not_merged(api: Api, make: Make, owner: User, project: Project) -> None:
    """More than 50 in a row, and those above a closed merge request; a merge by itself remains possible."""
    one, two, three = make_stack(make, project, owner, LAYERS)
    api.put(url(project, one), owner, state_event="close")
    for each in (two, three):
        answer = api.put(url(project, each, "/stack/merge"), owner)
        assert answer.status_code == 409
        assert "The merge request below it is closed" in answer.json()["message"]
    assert [_shown(api, project, each, owner)["state"] for each in (two, three)] == ["opened"] * 2
    api.post(f"/projects/{project.id}/protected_branches", owner, name="one")  # A branch that is to stay.
    assert api.put(url(project, two, "/stack/merge"), owner).status_code == 200
    with patch.object(tree, "MAX_LAYERS", 2):
        high = make_stack(make, project, owner, ["four", "five", "six"])
        answer = api.put(url(project, high[2], "/stack/merge"), owner)
        assert (answer.status_code, "Merge those at the bottom first" in answer.text) == (409, True)
        assert api.put(url(project, high[1], "/stack/merge"), owner).status_code == 200
        assert api.put(url(project, high[2], "/stack/merge"), owner).status_code == 200


def test_a_concurrent_merge_of_layers_below_is_no_obstacle(api: Api, make: Make, owner: User, project: Project) -> None:
    """Both want these layers merged; the later one merges what is left."""
    one, two, three = make_stack(make, project, owner, LAYERS)
    answers: list[int] = []

    def merge_after_another(*arguments: Any, **options: Any) -> None:
        if not answers:
            answers.append(0)
            answers[0] = api.put(url(project, two, "/stack/merge"), owner).status_code
        merge(*arguments, **options)

    with patch.object(perform, "merge", merge_after_another):
        answer = api.put(url(project, three, "/stack/merge"), owner)
    assert (answers, answer.status_code) == ([200], 200), answer.text
    assert [_shown(api, project, each, owner)["state"] for each in (one, two, three)] == ["merged"] * 3


def test_squash_is_offered_and_rebased_by_one_click(
    api: Api, make: Make, owner: User, project: Project, instance: Instance
) -> None:
    """Each layer shows only its own changes; a reporter may not rebase; the layers above follow."""
    one, two, three = _overlapping_stack(make, project, owner)
    merged(api, project, one, owner, squash=True, should_remove_source_branch=True)
    instance.work()
    assert _shown(api, project, two, owner)["sha"] == two["sha"]
    assert _changed(api, project, two, owner) == ["shared.txt", "two.txt"]
    assert _titles(api, project, two, owner) == ["two again", "two"]
    reporter = make.user()
    add_members(make, project, {reporter: Level.REPORTER})
    assert api.put(url(project, two, "/stack/rebase"), reporter).status_code == 403
    assert api.put(url(project, two, "/stack/rebase"), make.user()).status_code == 404
    path = f"/projects/{project.id}/merge_requests/{two['iid']}/stack/rebase"
    assert api.put(path, owner).status_code == 202
    instance.work()
    history = [
        one["title"] for one in api.get(f"/projects/{project.id}/repository/commits", owner, ref_name="three").json()
    ]
    assert history[:4] == ["three again", "three", "two again", "two"]
    assert _titles(api, project, three, owner) == ["three again", "three"]
    assert _changed(api, project, three, owner) == ["shared.txt", "three.txt"]
    assert api.put(url(project, two, "/stack/rebase"), owner).status_code == 409
    merged(api, project, two, owner)


@pytest.mark.parametrize("automatic", [False, True])
def test_a_job_during_a_rebase_by_one_click_does_not_fail_it(
    api: Api, make: Make, owner: User, project: Project, instance: Instance, automatic: bool
) -> None:
    """The click and the job want the same; a repeat says that nothing is left to do, and the layers above follow."""
    api.put(project.url, owner, rebase_stacked_merge_requests=automatic)
    one, two, three = _overlapping_stack(make, project, owner)
    merged(api, project, one, owner, squash=True, should_remove_source_branch=True)

    def copy_while_jobs_run(*arguments: Any) -> None:
        instance.work()
        copy_commit(*arguments)

    with patch.object(restack, "copy_commit", copy_while_jobs_run):
        answer = api.put(url(project, two, "/stack/rebase"), owner)
    assert answer.status_code == 202, answer.text
    instance.work()
    assert _titles(api, project, two, owner) == ["two again", "two"]
    assert _titles(api, project, three, owner) == ["three again", "three"]
    again = api.put(url(project, two, "/stack/rebase"), owner)
    assert (again.status_code, again.json()["message"]) == (
        409,
        "The merge request has no commits of a merged layer below it.",
    )


def test_a_click_during_the_rebase_by_a_job_does_not_fail(
    api: Api, make: Make, owner: User, project: Project, instance: Instance
) -> None:
    api.put(project.url, owner, rebase_stacked_merge_requests=True)
    one, two, three = _overlapping_stack(make, project, owner)
    merged(api, project, one, owner, squash=True, should_remove_source_branch=True)
    answers: list[int] = []

    def change_after_a_click(*arguments: Any, **options: Any) -> None:
        if not answers:
            answers.append(0)
            answers[0] = api.put(url(project, two, "/stack/rebase"), owner).status_code
        change_refs(*arguments, **options)

    with patch.object(restack, "change_refs", change_after_a_click):
        instance.work()
    instance.work()
    assert answers == [202]
    assert _titles(api, project, two, owner) == ["two again", "two"]
    assert _titles(api, project, three, owner) == ["three again", "three"]


def test_squash_rebases_the_layers_above_if_the_project_allows_it(
    api: Api, make: Make, owner: User, project: Project, instance: Instance
) -> None:
    """A comment keeps its place; a protected branch is not touched."""
    api.put(f"/projects/{project.id}", owner, rebase_stacked_merge_requests=True)
    api.post(f"/projects/{project.id}/protected_branches", owner, name="three", allow_force_push=True)
    one, two, three = _overlapping_stack(make, project, owner)
    position = {
        "base_sha": two["diff_refs"]["base_sha"],
        "head_sha": two["diff_refs"]["head_sha"],
        "start_sha": two["diff_refs"]["start_sha"],
        "position_type": "text",
        "new_path": "two.txt",
        "new_line": 1,
    }
    answer = api.post(url(project, two, "/discussions"), owner, body="Why?", position=position)
    assert answer.status_code == 201, answer.text
    merged(api, project, one, owner, squash=True, should_remove_source_branch=True)
    instance.work()
    shown = _shown(api, project, two, owner)
    assert shown["sha"] != two["sha"]
    assert shown["diff_refs"]["base_sha"] == tip(api, project, owner)["id"]
    assert _titles(api, project, two, owner) == ["two again", "two"]
    note = api.get(url(project, two, "/discussions"), owner).json()
    placed = [each["notes"][0]["position"] for each in note if each["notes"][0].get("position")]
    assert [(each["head_sha"], each["new_path"], each["new_line"]) for each in placed] == [(shown["sha"], "two.txt", 1)]
    assert _shown(api, project, three, owner)["sha"] == three["sha"]
    assert _changed(api, project, three, owner) == ["shared.txt", "three.txt"]
    # A push by hand ends the offer.
    assert api.put(url(project, three, "/stack/rebase"), owner).status_code == 202
    instance.work()
    assert api.put(url(project, three, "/stack/rebase"), owner).status_code == 409
    merged(api, project, two, owner, squash=True)
    merged(api, project, three, owner)
    assert api.get(f"/projects/{project.id}/repository/files/shared.txt/raw", owner, ref="master").text == "three\n"


def test_conflict_of_a_rebase_is_reported(
    api: Api, make: Make, owner: User, project: Project, instance: Instance
) -> None:
    """The branch remains as it was; the rebase by one click says why."""
    api.put(f"/projects/{project.id}", owner, rebase_stacked_merge_requests=True)
    one, two, _ = _overlapping_stack(make, project, owner)
    commit(make, project, "master", {"two.txt": "clash\n"}, owner)
    merged(api, project, one, owner, squash=True)
    instance.work()
    assert _shown(api, project, two, owner)["sha"] == two["sha"]
    assert api.put(url(project, two, "/stack/rebase"), owner).status_code == 409


@pytest.mark.parametrize("method", ["merge", "rebase_merge", "ff"])
@pytest.mark.parametrize("squash", [False, True])
def test_merge_of_a_stack(
    api: Api, make: Make, owner: User, project: Project, instance: Instance, method: str, squash: bool
) -> None:
    """Bottom-up, also if the merges below have rewritten the commits, and without changing the source branches."""
    api.put(f"/projects/{project.id}", owner, merge_method=method)
    layers = _overlapping_stack(make, project, owner, squash=squash)
    answer = api.put(url(project, layers[2], "/stack/merge"), owner, sha=layers[2]["sha"])
    assert answer.status_code == 200, answer.text
    assert [(each["iid"], each["state"], each["sha"]) for each in answer.json()] == [
        (each["iid"], "merged", each["sha"]) for each in layers
    ]
    instance.work()
    assert {each["target_branch"] for each in answer.json()} == {"master"}
    files = {one["name"] for one in api.get(f"/projects/{project.id}/repository/tree", owner).json()}
    assert {"one.txt", "two.txt", "three.txt"} <= files
    assert api.get(f"/projects/{project.id}/repository/files/shared.txt/raw", owner, ref="master").text == "three\n"
    if squash and method == "ff":
        titles = [one["title"] for one in api.get(f"/projects/{project.id}/repository/commits", owner).json()]
        assert titles[:3] == ["Merge three", "Merge two", "Merge one"]


def test_stack_is_merged_as_a_whole_or_not_at_all(api: Api, make: Make, owner: User, project: Project) -> None:
    one, two, three = make_stack(make, project, owner, LAYERS)
    api.put(url(project, two), owner, title="Draft: two")
    answer = api.put(url(project, three, "/stack/merge"), owner)
    assert refused(answer, 405, "draft_status").startswith(f"!{two['iid']}: ")
    assert _shown(api, project, one, owner)["state"] == "opened"
    answer = api.put(url(project, one, "/stack/merge"), owner, sha="0" * 40)
    assert answer.status_code == 409
    guest = make.user()
    add_members(make, project, {guest: Level.REPORTER})
    assert api.put(url(project, one, "/stack/merge"), guest).status_code == 401
    assert api.put(url(project, one, "/stack/merge"), make.user()).status_code == 404
    # The permission for the branch into which all are merged counts, not that for the branch below.
    developer = make.user()
    add_members(make, project, {developer: Level.DEVELOPER})
    api.put(url(project, two), owner, title="two")
    answer = api.put(url(project, three, "/stack/merge"), developer)
    assert answer.status_code == 401
    assert api.put(url(project, two, "/stack/merge"), owner).status_code == 200
    assert _shown(api, project, three, owner)["target_branch"] == "master"


def test_layer_shows_its_own_changes_after_a_push_below(api: Api, make: Make, owner: User, project: Project) -> None:
    """The layer below is replaced by a force push; the layer above does not show its old commits."""
    one, two = make_stack(make, project, owner, ["one", "two"])
    api.delete(f"/projects/{project.id}/protected_branches/one", owner)
    actions = [{"action": "create", "file_path": "one.txt", "content": "new\n"}]
    sent = {"branch": "one", "start_branch": "master", "force": True, "commit_message": "Again", "actions": actions}
    assert api.post(f"/projects/{project.id}/repository/commits", owner, **sent).status_code == 201
    assert _shown(api, project, one, owner)["sha"] != one["sha"]
    assert _changed(api, project, two, owner) == ["two.txt"]
    assert _titles(api, project, two, owner) == ["Add two"]
    commit(make, project, "two", {"more.txt": "x\n"}, owner)
    assert _changed(api, project, two, owner) == ["more.txt", "two.txt"]
    assert _shown(api, project, two, owner)["changes_count"] == "2"


def test_closed_layer_and_deleted_branch_lose_nothing(api: Api, make: Make, owner: User, project: Project) -> None:
    one, two, _ = make_stack(make, project, owner, LAYERS)
    assert api.delete(f"/projects/{project.id}/repository/branches/one", owner).status_code == 200
    shown = _shown(api, project, two, owner)
    assert (shown["state"], shown["target_branch"]) == ("opened", "one")
    api.put(url(project, one), owner, state_event="close")
    answer = api.put(url(project, two), owner, target_branch="master")
    assert answer.status_code == 200
    assert _shown(api, project, two, owner)["state"] == "opened"
