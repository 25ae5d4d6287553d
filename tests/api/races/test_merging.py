"""Concurrent merges, on several servers: nothing is lost or repeated."""

from contextlib import nullcontext
from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.repositories.ref_changes.branch_queue import BranchQueue
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.api.merging.merge_calls import make_branch_merge_request, tip, url
from tests.api.races.concurrent_servers import ConcurrentCall, ConcurrentServers
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members
from tests.git_history import History, repository_of, run

MANY = 50


def _open_merge_requests(
    make: Make, instance: Instance, owner: User, count: int, **sent: Any
) -> tuple[Project, list[dict[str, Any]]]:
    """Return a project with this many branches to be merged."""
    project = filled_project(make, owner)
    history = History()
    base = tip(make.api, project, owner)["id"]
    for number in range(count):
        history.commit(f"b{number}", files={f"file-{number}": f"{number}\n"}, parents=(base,))
    history.fill(instance, project)
    return project, [make_branch_merge_request(make, project, f"b{number}", owner, **sent) for number in range(count)]


def test_fifty_merges_into_one_branch(api: Api, make: Make, instance: Instance, servers: ConcurrentServers) -> None:
    """All are merged with their own commit, and the branch contains the changes of each."""
    owner = make.user()
    project, offered = _open_merge_requests(make, instance, owner, MANY)

    answers = servers.race(*(ConcurrentCall("PUT", url(project, each, "/merge"), owner) for each in offered))

    assert answers == [200] * MANY
    repository = repository_of(instance, project).path
    assert len(run(repository, "ls-tree", "--name-only", "master").split()) == MANY + 1
    merges = run(repository, "rev-list", "--merges", "--first-parent", "master").split()
    shown = api.get(f"/projects/{project.id}/merge_requests", owner, state="merged", per_page=100).json()
    assert {each["merge_commit_sha"] for each in shown} == set(merges)
    assert len(merges) == len(shown) == MANY
    assert run(repository, "fsck", "--strict") is not None


def test_fifty_merges_of_one_merge_request(
    api: Api, make: Make, instance: Instance, servers: ConcurrentServers
) -> None:
    """Attack: there is one merge commit, and the other calls get an error; also with squash."""
    owner = make.user()
    project = filled_project(make, owner)
    for squash in (False, True):
        merge_request = make_merge_request(make, project, owner)
        commit(make, project, merge_request["source_branch"], {make.name("more"): "x"}, owner)
        before = tip(api, project, owner)["id"]
        path = url(project, merge_request, "/merge")

        answers = servers.race(*(ConcurrentCall("PUT", path, owner, {"squash": squash}) for _ in range(MANY)))

        assert sorted(answers) == [200] + [406] * (MANY - 1)
        shown = api.get(url(project, merge_request), owner).json()
        new = run(repository_of(instance, project).path, "rev-list", "--first-parent", f"{before}..master").split()
        assert new == [shown["merge_commit_sha"]]


def test_push_to_the_source_during_a_merge(api: Api, make: Make, servers: ConcurrentServers) -> None:
    """Attack: the merge contains the new commit, or it stays on the branch, which is then not removed."""
    owner = make.user()
    project = filled_project(make, owner)
    for number in range(6):
        merge_request = make_merge_request(make, project, owner)
        branch, file = merge_request["source_branch"], f"late-{number}"
        action = {"action": "create", "file_path": file, "content": "x"}
        late = {"branch": branch, "commit_message": "Late", "actions": [action]}
        merging = {"should_remove_source_branch": True}

        answers = servers.race(
            ConcurrentCall("PUT", url(project, merge_request, "/merge"), owner, merging),
            ConcurrentCall("POST", f"/projects/{project.id}/repository/commits", owner, late),
        )

        assert answers[0] == 200
        # If the branch was already removed, the commit failed.
        assert answers[1] in (201, 400)
        where = api.get(f"/projects/{project.id}/repository/files/{file}", owner, ref="master").status_code
        if answers[1] == 201 and where == 404:
            assert api.get(f"/projects/{project.id}/repository/files/{file}", owner, ref=branch).status_code == 200
        shown = api.get(url(project, merge_request), owner).json()
        merged_head = api.get(f"/projects/{project.id}/repository/commits/{shown['merge_commit_sha']}", owner).json()
        assert shown["sha"] == shown["diff_refs"]["head_sha"] == merged_head["parent_ids"][1]


def test_commits_to_the_target_during_merges(
    api: Api, make: Make, instance: Instance, servers: ConcurrentServers
) -> None:
    """No commit is overwritten."""
    owner = make.user()
    project, offered = _open_merge_requests(make, instance, owner, 8)

    def commit(number: int) -> dict[str, Any]:
        action = {"action": "create", "file_path": f"direct-{number}", "content": "x"}
        return {"branch": "master", "commit_message": "Direct", "actions": [action]}

    answers = servers.race(
        *(ConcurrentCall("PUT", url(project, each, "/merge"), owner) for each in offered),
        *(
            ConcurrentCall("POST", f"/projects/{project.id}/repository/commits", owner, commit(number))
            for number in range(8)
        ),
    )

    assert answers == [200] * 8 + [201] * 8
    names = run(repository_of(instance, project).path, "ls-tree", "--name-only", "master").split()
    assert set(names) == {"README", *(f"{kind}-{number}" for kind in ("file", "direct") for number in range(8))}


def test_merging_and_closing_concurrently(api: Api, make: Make, instance: Instance, servers: ConcurrentServers) -> None:
    """State and branch agree; chained merge requests lose nothing."""
    owner = make.user()
    project, offered = _open_merge_requests(make, instance, owner, 8)
    add_members(make, project, {make.user(): Level.DEVELOPER})
    closing = [ConcurrentCall("PUT", url(project, each), owner, {"state_event": "close"}) for each in offered]

    answers = servers.race(*(ConcurrentCall("PUT", url(project, each, "/merge"), owner) for each in offered), *closing)

    assert set(answers[:8]) <= {200, 406}
    heads = set(run(repository_of(instance, project).path, "rev-list", "master").split())
    for each in offered:
        state = api.get(url(project, each), owner).json()["state"]
        assert (state == "merged") == (each["sha"] in heads)


def test_concurrent_chained_merges(api: Api, make: Make, instance: Instance, servers: ConcurrentServers) -> None:
    """Attack: one merge targets a branch that is removed by its own merge at the same time; no commit is lost."""
    owner = make.user()
    project = filled_project(make, owner)
    for number in range(4):
        lower = make_merge_request(make, project, owner, branch=f"lower-{number}")
        commit(make, project, f"upper-{number}", {f"upper-{number}": "x"}, owner, start=f"lower-{number}")
        upper = make_branch_merge_request(make, project, f"upper-{number}", owner, target_branch=f"lower-{number}")

        answers = servers.race(
            ConcurrentCall("PUT", url(project, lower, "/merge"), owner, {"should_remove_source_branch": True}),
            ConcurrentCall("PUT", url(project, upper, "/merge"), owner, {"should_remove_source_branch": True}),
        )

        assert answers[0] in (200, 406), "merged with the other one, at the latest"
        assert answers[1] in (200, 405)
        reachable = run(repository_of(instance, project).path, "rev-list", "--branches").split()
        assert upper["sha"] in reachable
        shown = api.get(url(project, upper), owner).json()
        assert shown["state"] in ("merged", "opened")


def test_without_a_shared_lock(
    api: Api, make: Make, instance: Instance, servers: ConcurrentServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers on other machines do not share the lock: only the atomic ref update decides."""
    monkeypatch.setattr(BranchQueue, "turn", lambda *_: nullcontext())
    owner = make.user()
    project, offered = _open_merge_requests(make, instance, owner, 8)
    twice = [
        ConcurrentCall("PUT", url(project, each, "/merge"), owner, {"squash": True}) for each in (*offered, *offered)
    ]

    answers = servers.race(*twice)

    assert sorted(answers) == [200] * 8 + [406] * 8
    repository = repository_of(instance, project).path
    assert len(run(repository, "rev-list", "--first-parent", "master").split()) == 9
    assert len(run(repository, "ls-tree", "--name-only", "master").split()) == 9
    one = make_merge_request(make, project, owner)
    path, before = url(project, one, "/merge"), tip(api, project, owner)["id"]
    assert sorted(servers.race(*(ConcurrentCall("PUT", path, owner) for _ in range(12)))) == [200] + [406] * 11
    new = run(repository, "rev-list", "--first-parent", f"{before}..master").split()
    assert new == [api.get(url(project, one), owner).json()["merge_commit_sha"]]
