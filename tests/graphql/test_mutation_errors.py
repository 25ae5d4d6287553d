"""Texts in ``errors`` of payloads, which are those of GitLab."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql
from tests.graphql.test_mutations import Mutations


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture(scope="module")
def project(instance: Instance, make: Make, owner: User) -> Project:
    project = make_project(make, owner)
    history = History()
    history.commit("master", {"README.md": "hello\n"})
    history.commit("topic", {"README.md": "changed\n"}, parents=(1,))
    history.fill(instance, project)
    return project


@pytest.fixture(scope="module")
def run(graphql: Graphql, owner: User) -> Mutations:
    return Mutations(graphql, owner)


def _errors(run: Mutations, name: str, /, **sent: Any) -> list[str]:
    answer = run.answer(name, "clientMutationId", **sent)
    assert "errors" not in answer, answer
    errors: list[str] = answer["data"][name]["errors"]
    return errors


def test_errors_name_the_attributes_of_the_object(run: Mutations, project: Project) -> None:
    path = {"projectPath": project.path}
    label = run("labelCreate", "label { id }", **path, title="bug")
    run("labelCreate", "label { id }", **path, title="taken")
    issue = run("createIssue", "issue { id iid }", **path, title="one")
    taken = ["Title has already been taken"]
    assert _errors(run, "labelCreate", **path, title="taken") == taken
    assert _errors(run, "labelUpdate", id=label["id"], title="taken") == taken
    assert _errors(run, "labelUpdate", id=label["id"], title="") == ["Title can't be blank"]
    assert _errors(run, "labelUpdate", id=label["id"], color="no") == ["Color must be a valid color code"]
    assert run("labelUpdate", "label { title }", id=label["id"]) == {"title": "bug"}
    assert _errors(run, "createIssue", **path, title="") == ["Title can't be blank"]
    assert _errors(run, "createNote", noteableId=issue["id"], body="") == ["Note can't be blank"]
    assert _errors(run, "createSnippet", title="s", visibilityLevel="private") == ["File name can't be blank"]
    assert _errors(run, "pipelineCreate", **path, ref="master") == ["Missing .gitlab-ci.yml file"]
    assert _errors(run, "createBranch", **path, name="new", ref="none") == [
        "Failed to create branch 'new': invalid reference name 'none'"
    ]
    assert _errors(run, "createBranch", **path, name="topic", ref="master") == ["Branch already exists"]
    estimate = ["timeEstimate must be formatted correctly, for example `1h 30m`"]
    assert _errors(run, "updateIssue", **path, iid=issue["iid"], title="two", timeEstimate="x") == estimate
    assert run("updateIssue", "issue { title }", **path, iid=issue["iid"]) == {"title": "one"}


def test_award_emoji_are_given_once(run: Mutations, project: Project, graphql: Graphql, make: Make) -> None:
    issue = run("createIssue", "issue { id }", projectPath=project.path, title="awarded")["id"]
    run("awardEmojiAdd", "awardEmoji { name }", awardableId=issue, name="heart")
    assert _errors(run, "awardEmojiAdd", awardableId=issue, name="heart") == ["Name has already been taken"]
    assert _errors(run, "awardEmojiAdd", awardableId=issue, name="nonsense") == ["Name is not a valid emoji name"]
    assert _errors(run, "awardEmojiRemove", awardableId=issue, name="rocket") == [
        "User has not awarded emoji of type rocket on the awardable"
    ]
    for toggled in (False, True):
        assert run("awardEmojiToggle", "toggledOn", awardableId=issue, name="heart") is toggled
    hidden = Mutations(graphql, make.user()).answer("awardEmojiAdd", "clientMutationId", awardableId=issue, name="x")
    assert hidden["data"] == {"awardEmojiAdd": None}


def test_merges_are_refused_with_a_reason(
    run: Mutations, api: Api, project: Project, graphql: Graphql, make: Make, owner: User
) -> None:
    path = {"projectPath": project.path}
    sent = {"sourceBranch": "topic", "targetBranch": "master", "title": "Draft: m"}
    iid = run("mergeRequestCreate", "mergeRequest { iid }", **path, **sent)["iid"]
    one = {**path, "iid": iid, "sha": api.get(f"{project.url}/merge_requests/{iid}", owner).json()["sha"]}
    selected = "mergeRequest { iid }"
    payload = run.answer("mergeRequestAccept", selected, **one)["data"]["mergeRequestAccept"]
    assert payload == {"errors": ["This branch cannot be merged"], "mergeRequest": {"iid": iid}}
    guest = make.user()
    add_members(make, project, {guest: 20})
    refused = Mutations(graphql, guest).answer("mergeRequestAccept", selected, **one)
    assert refused["data"] == {"mergeRequestAccept": None}
    assert "permission" in refused["errors"][0]["message"]


def test_todos_are_restored(run: Mutations, api: Api, project: Project, graphql: Graphql, make: Make) -> None:
    issues = [run("createIssue", "issue { id }", projectPath=project.path, title="t")["id"] for _ in range(2)]
    first, second = (run("todoCreate", "todo { id state }", targetId=issue) for issue in issues)
    assert run("todoCreate", "todo { id }", targetId=issues[0]) is None  # One is pending.
    for todo in (first, second):
        assert run("todoMarkDone", "todo { state }", id=todo["id"]) == {"state": "done"}
    assert run("todoRestore", "todo { id state }", id=first["id"]) == first
    assert run("todoRestore", "todo { id state }", id=first["id"]) == first
    again = run("todoCreate", "todo { id }", targetId=issues[1])
    assert _errors(run, "todoRestore", id=second["id"]) == ["A pending to-do item for this already exists"]
    run("todoMarkDone", "todo { id }", id=again["id"])
    run("todoMarkDone", "todo { id }", id=first["id"])
    restored = run("todoRestoreMany", "todos { id }", ids=[first["id"], second["id"]])
    assert [todo["id"] for todo in restored] == [first["id"], second["id"]]
    stranger = Mutations(graphql, make.user())
    for name, sent in (("todoRestore", {"id": first["id"]}), ("todoRestoreMany", {"ids": [first["id"]]})):
        assert stranger.answer(name, "clientMutationId", **sent)["data"] == {name: None}
