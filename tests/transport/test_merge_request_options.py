"""``git push -o merge_request.…``: merge requests created and changed by a push."""

from collections.abc import Callable

from ingot.collaboration.merge_requests.push_options import PushOptions, parse_push_options
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.transport.conftest import GitRemote, Tree


def test_options_are_parsed() -> None:
    assert parse_push_options(["ci.skip", "merge_request.unknown=1"]) is None
    options = ["merge_request.create", "merge_request.label=a", "merge_request.label=b=c", "merge_request.draft=false"]
    assert parse_push_options(options) == PushOptions(create=True, label=("a", "b=c"))
    assert parse_push_options([r"merge_request.description=a\nb"]) == PushOptions(description="a\nb")


def test_a_push_creates_and_changes_a_merge_request(
    api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner, helper = make.user(), make.user()
    project = make_project(make, owner, members={helper: 30})
    api.post(f"{project.url}/milestones", owner, title="3.0")
    chosen = git_remote(helper)
    theirs = git_remote(owner)
    tree.env = theirs.env
    tree.commit()
    tree.git("push", "-q", theirs.url(project), "master")
    tree.env, url = chosen.env, chosen.url(project)
    tree.git("checkout", "-q", "-b", "topic")
    tree.commit("a", "a\n")
    options = (
        "merge_request.create",
        "merge_request.label=fast",
        "merge_request.label=new label",
        "merge_request.milestone=3.0",
        f"merge_request.assign={owner.username}",
        "merge_request.remove_source_branch",
        "merge_request.draft",
    )
    tree.git("push", "-q", *(part for option in options for part in ("-o", option)), url, "topic")
    made = api.get(f"{project.url}/merge_requests/1", owner).json()
    assert (made["source_branch"], made["target_branch"], made["author"]["id"]) == ("topic", "master", helper.id)
    assert made["title"].startswith("Draft: ")
    assert set(made["labels"]) == {"fast", "new label"}
    assert [each["id"] for each in made["assignees"]] == [owner.id]
    assert (made["milestone"]["title"], made["force_remove_source_branch"]) == ("3.0", True)

    tree.commit("b", "b\n")
    changes = (
        "merge_request.create",
        "merge_request.title=Better",
        "merge_request.description=Why",
        "merge_request.unlabel=fast",
        f"merge_request.assign={helper.id}",
        f"merge_request.unassign={owner.username}",
    )
    tree.git("push", "-q", *(part for option in changes for part in ("-o", option)), url, "topic")
    assert [each["iid"] for each in api.get(f"{project.url}/merge_requests", owner).json()] == [1]
    changed = api.get(f"{project.url}/merge_requests/1", owner).json()
    assert (changed["title"], changed["description"], changed["labels"]) == ("Better", "Why", ["new label"])
    assert [each["id"] for each in changed["assignees"]] == [helper.id]

    # A developer may not merge into the protected branch, also not later; the push itself succeeds.
    tree.commit("c", "c\n")
    tree.git("push", "-q", "-o", "merge_request.auto_merge", url, "topic")
    assert api.get(f"{project.url}/merge_requests/1", owner).json()["state"] == "opened"
    tree.env = theirs.env
    tree.git(
        "push", "-q", "-o", "merge_request.create", "-o", "merge_request.target=none", theirs.url(project), "topic"
    )
    tree.git("push", "-q", "-o", "merge_request.auto_merge", theirs.url(project), "topic:topic")
    assert [each["iid"] for each in api.get(f"{project.url}/merge_requests", owner).json()] == [1]


def _push(tree: Tree, url: str, branch: str, *options: str) -> str:
    return tree.stderr("push", *(part for option in options for part in ("-o", f"merge_request.{option}")), url, branch)


def test_the_user_of_a_push_sees_the_merge_request_or_a_warning(
    api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner, author = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    theirs = git_remote(owner)
    tree.env = theirs.env
    tree.commit()
    tree.git("push", "-q", theirs.url(project), "master")
    answer = api.post(f"{project.url}/fork", author).json()
    fork = Project(answer["id"], answer["path_with_namespace"], answer["name"], answer["namespace"]["id"])
    own = git_remote(author)
    tree.env, url = own.env, own.url(fork)

    tree.commit("a", "a\n")
    shown = _push(tree, url, "master", "create", f"target_project={project.path}")
    assert f"/{project.path}/-/merge_requests/1" in shown
    assert "WARNINGS" not in shown
    tree.git("checkout", "-q", "-b", "topic")
    tree.commit("b", "b\n")
    shown = _push(tree, url, "topic", "create", f"target_project={project.path}")
    assert f"/{project.path}/-/merge_requests/2" in shown
    assert "To create a merge request" not in shown

    refused = {
        ("target=none",): "The option merge_request.create is required",
        ("create", "target=none"): "target_branch",
        ("create", "target_project=no/such"): "Project not found",
        ("create", f"target_project={project.path}", "assign=no-such-user"): "User no-such-user not found",
        ("create", f"target_project={project.path}", "milestone=4.0"): "Milestone 4.0 not found",
        ("create", f"target_project={project.path}", "auto_merge"): "permission",
    }
    tree.git("push", "-q", url, ":topic")
    for number, (options, reason) in enumerate(refused.items()):
        branch = f"other-{number}"
        tree.git("branch", branch, "topic")
        shown = _push(tree, url, branch, *options)
        assert "WARNINGS:" in shown
        assert "Error encountered with push options" in shown
        assert reason in shown, shown


def test_automatic_merges_wait_for_a_pipeline(
    api: Api, make: Make, instance: Instance, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner = make.user()
    project, remote = make_project(make, owner), git_remote(owner)
    tree.env, url = remote.env, remote.url(project)
    tree.commit()
    tree.git("push", "-q", url, "master")
    for number, option in enumerate(("merge_when_pipeline_succeeds", "auto_merge"), 1):
        tree.git("checkout", "-q", "-b", f"topic-{number}", "master")
        head = tree.commit(f"file-{number}", "text\n")
        assert "WARNINGS" not in _push(tree, url, f"topic-{number}", "create", option)
        path = f"{project.url}/merge_requests/{number}"
        waiting = api.get(path, owner).json()
        assert (waiting["state"], waiting["merge_when_pipeline_succeeds"]) == ("opened", True)
        api.post(f"{project.url}/statuses/{head}", owner, state="success", ref=f"topic-{number}")
        instance.work()
        assert api.get(path, owner).json()["state"] == "merged"
