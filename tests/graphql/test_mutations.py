"""Mutations: each changes what its REST endpoint changes, and reports errors in its payload."""

from typing import Any

import pytest

from tests.ci.artifacts.files import upload, zip_of
from tests.ci.pipelines.rows import PipelineRows
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql


class Mutations:
    """Caller of mutations with their input as variables."""

    def __init__(self, graphql: Graphql, user: User) -> None:
        self._graphql = graphql
        self._user = user

    def answer(self, name: str, selected: str, /, **sent: Any) -> dict[str, Any]:
        """Return the whole response of a mutation."""
        kind = name[0].upper() + name[1:] + "Input!"
        query = f"mutation($input: {kind}) {{ {name}(input: $input) {{ errors {selected} }} }}"
        return self._graphql.answer(query, self._user, input=sent)

    def __call__(self, name: str, selected: str, /, **sent: Any) -> Any:
        """Return the payload of a mutation that succeeds."""
        answer = self.answer(name, selected, **sent)
        assert "errors" not in answer, answer
        payload = answer["data"][name]
        assert payload.pop("errors") == []
        return next(iter(payload.values())) if payload else None


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture(scope="module")
def project(instance: Instance, make: Make, owner: User) -> Project:
    project = make_project(make, owner)
    history = History()
    history.commit("master", {"README.md": "hello\n"})
    for branch in ("topic", "other", "acted"):
        history.commit(branch, {branch: "text\n"}, parents=(1,))
    history.fill(instance, project)
    return project


@pytest.fixture(scope="module")
def run(graphql: Graphql, owner: User) -> Mutations:
    return Mutations(graphql, owner)


def test_issues(run: Mutations, api: Api, make: Make, project: Project, owner: User) -> None:
    path = {"projectPath": project.path}
    label = run("labelCreate", "label { id title color }", **path, title="bug", color="#ff0000")
    issue = run(
        "createIssue",
        "issue { id iid title labels { nodes { title } } assignees { nodes { username } } }",
        **path,
        title="one",
        labelIds=[label["id"]],
        assigneeIds=[f"gid://gitlab/User/{owner.id}"],
    )
    assert issue["labels"]["nodes"] == [{"title": "bug"}]
    assert issue["assignees"]["nodes"] == [{"username": owner.username}]
    one = {**path, "iid": issue["iid"]}
    milestone = run("milestoneCreate", "milestone { id }", **path, title="1.0")
    edited = run(
        "updateIssue",
        "issue { title state dueDate timeEstimate milestone { title } labels { nodes { title } } }",
        **one,
        title="two",
        stateEvent="CLOSE",
        dueDate="2030-01-02",
        milestoneId=milestone["id"],
        removeLabelIds=[label["id"]],
        timeEstimate="1h",
    )
    assert edited == {
        "title": "two",
        "state": "closed",
        "dueDate": "2030-01-02",
        "timeEstimate": 3600,
        "milestone": {"title": "1.0"},
        "labels": {"nodes": []},
    }
    assert run("issueSetConfidential", "issue { confidential }", **one, confidential=True) == {"confidential": True}
    assert run("issueSetLocked", "issue { discussionLocked }", **one, locked=True) == {"discussionLocked": True}
    assert run("issueSetDueDate", "issue { dueDate }", **one, dueDate=None) == {"dueDate": None}
    assert run("issueSetSubscription", "issue { subscribed }", **one, subscribedState=False) == {"subscribed": False}
    assigned = run(
        "issueSetAssignees",
        "issue { assignees { nodes { id } } }",
        **one,
        assigneeUsernames=[owner.username],
        operationMode="REMOVE",
    )
    assert assigned["assignees"]["nodes"] == []
    time = run("timelogCreate", "timelog { timeSpent summary issue { iid } user { username } project { fullPath } }",
               issuableId=issue["id"], timeSpent="30m", summary="work")  # fmt: skip
    assert (time["timeSpent"], time["issue"]["iid"], time["project"]["fullPath"]) == (1800, issue["iid"], project.path)
    other = make_project(make, owner)
    moved = run("issueMove", "issue { reference(full: true) }", **one, targetProjectPath=other.path)
    assert moved["reference"] == f"{other.path}#1"
    item = run("workItemCreate", "workItem { id title widgets { type } }", namespacePath=other.path, title="item",
               workItemTypeId="gid://gitlab/WorkItems::Type/1")  # fmt: skip
    assert run("workItemUpdate", "workItem { state }", id=item["id"], stateEvent="CLOSE") == {"state": "CLOSED"}
    assert run("issueDelete", "issue { iid }", projectPath=other.path, iid="1") == {"iid": "1"}
    assert run("workItemDelete", "project { fullPath }", id=item["id"]) == {"fullPath": other.path}
    assert api.get(f"{other.url}/issues", owner).json() == []


def test_new_notes_report_their_quick_actions(run: Mutations, project: Project) -> None:
    issue = run("createIssue", "issue { id iid }", projectPath=project.path, title="acted on")["id"]
    merge = run("mergeRequestCreate", "mergeRequest { id }", projectPath=project.path, sourceBranch="acted",
                targetBranch="master", title="acted on")["id"]  # fmt: skip
    selected = "note { body } quickActionsStatus { commandNames commandsOnly messages errorMessages }"

    def created(name: str, subject: str, body: str) -> tuple[Any, Any]:
        payload = run.answer(name, selected, noteableId=subject, body=body)["data"][name]
        assert payload["errors"] == []
        return payload["note"], payload["quickActionsStatus"]

    for name in ("createNote", "createDiscussion"):
        for subject in (issue, merge):
            assert created(name, subject, "text") == ({"body": "text"}, None)
            closed = {"commandsOnly": True, "commandNames": ["close", "estimate"], "errorMessages": None}
            note, status = created(name, subject, "/close\n/estimate 1h")
            assert (note, status.pop("messages")) == (None, ["Closed this.", "Set time estimate to 1h."])
            assert status == closed
            note, status = created(name, subject, "again\n\n/reopen")
            assert (note, status["commandNames"], status["commandsOnly"]) == ({"body": "again"}, ["reopen"], False)
            assert len(status["messages"]) == 1
    _, failed = created("createNote", issue, "/estimate nonsense")
    assert (failed["messages"], failed["errorMessages"]) == (None, ["Failed to apply commands."])


def test_notes_and_awards(run: Mutations, api: Api, project: Project, owner: User) -> None:
    issue = run("createIssue", "issue { id iid }", projectPath=project.path, title="discussed")
    selected = "note { id body discussion { id replyId } }"
    note = run("createNote", selected, noteableId=issue["id"], body="first")
    reply = run(
        "createNote", selected, noteableId=issue["id"], body="second", discussionId=note["discussion"]["replyId"]
    )
    assert reply["discussion"] == note["discussion"]
    assert run("updateNote", "note { body }", id=note["id"], body="edited") == {"body": "edited"}
    award = run("awardEmojiAdd", "awardEmoji { name emoji user { username } }", awardableId=note["id"], name="heart")
    assert (award["name"], award["user"]["username"]) == ("heart", owner.username)
    run("awardEmojiToggle", "awardEmoji { name }", awardableId=note["id"], name="heart")
    run("awardEmojiAdd", "awardEmoji { name }", awardableId=issue["id"], name="rocket")
    run("awardEmojiRemove", "awardEmoji { name }", awardableId=issue["id"], name="rocket")
    run("destroyNote", "note { id }", id=reply["id"])
    notes = api.get(f"{project.url}/issues/{issue['iid']}/notes", owner).json()
    assert [each["body"] for each in notes if not each["system"]] == ["edited"]
    todo = run("todoCreate", "todo { id state targetType }", targetId=issue["id"])
    assert (todo["state"], todo["targetType"]) == ("pending", "ISSUE")
    assert run("todoMarkDone", "todo { state }", id=todo["id"]) == {"state": "done"}
    run("todoCreate", "todo { id }", targetId=issue["id"])
    assert run("todosMarkAllDone", "todos { state }") == [{"state": "done"}]


def test_merge_requests(run: Mutations, api: Api, make: Make, project: Project, owner: User) -> None:
    path = {"projectPath": project.path}
    created = run("mergeRequestCreate", "mergeRequest { id iid diffHeadSha diffRefs { baseSha headSha startSha } }",
                  **path, sourceBranch="topic", targetBranch="master", title="merge")  # fmt: skip
    one = {**path, "iid": created["iid"]}
    position = {**created["diffRefs"], "paths": {"newPath": "topic", "oldPath": "topic"}, "newLine": 1}
    note = run("createDiffNote", "note { position { filePath newLine } discussion { id resolvable } }",
               noteableId=created["id"], body="line", position=position)  # fmt: skip
    assert note["position"] == {"filePath": "topic", "newLine": 1}
    discussion = note["discussion"]["id"]
    assert run("discussionToggleResolve", "discussion { resolved }", id=discussion, resolve=True) == {"resolved": True}
    run("createDiscussion", "note { id }", noteableId=created["id"], body="thread")
    assert run("mergeRequestSetDraft", "mergeRequest { draft title }", **one, draft=True)["draft"] is True
    assert run("mergeRequestSetDraft", "mergeRequest { draft title }", **one, draft=False) == {
        "draft": False,
        "title": "merge",
    }
    label = run("labelCreate", "label { id }", **path, title="review")
    people = {"assigneeUsernames": [owner.username]}
    selected = (
        "mergeRequest { labels { nodes { title } } assignees { nodes { username } } reviewers { nodes { username } } }"
    )
    run("mergeRequestSetLabels", selected, **one, labelIds=[label["id"]], operationMode="APPEND")
    run("mergeRequestSetAssignees", selected, **one, **people)
    changed = run("mergeRequestSetReviewers", selected, **one, reviewerUsernames=[owner.username])
    assert changed["labels"]["nodes"] == [{"title": "review"}]
    assert changed["assignees"] == changed["reviewers"] == {"nodes": [{"username": owner.username}]}
    milestone = run("milestoneCreate", "milestone { id }", **path, title="2.0")
    set_milestone = run(
        "mergeRequestSetMilestone", "mergeRequest { milestone { title } }", **one, milestoneId=milestone["id"]
    )
    assert set_milestone["milestone"] == {"title": "2.0"}
    run("mergeRequestSetLocked", "mergeRequest { discussionLocked }", **one, locked=False)
    run("mergeRequestSetSubscription", "mergeRequest { subscribed }", **one, subscribedState=False)
    assert run("mergeRequestUpdate", "mergeRequest { title }", **one, title="new", timeEstimate="2h") == {
        "title": "new"
    }
    make.api.post(f"{project.url}/members", owner, user_id=make.root.id, access_level=40)
    run("mergeRequestRebase", "mergeRequest { iid }", **one)
    sha = api.get(f"{project.url}/merge_requests/{created['iid']}", owner).json()["sha"]
    refused = run.answer("mergeRequestAccept", "mergeRequest { state }", **one, sha="0" * 40)
    assert refused["data"]["mergeRequestAccept"] == {
        "errors": ["The merge-head is not at the anticipated SHA"],
        "mergeRequest": {"state": "opened"},
    }
    assert run("mergeRequestAccept", "mergeRequest { state }", **one, sha=sha) == {"state": "merged"}
    refused = run.answer("mergeRequestAccept", "mergeRequest { state }", **one, sha=sha)
    assert refused["data"]["mergeRequestAccept"] == {
        "errors": ["This branch cannot be merged"],
        "mergeRequest": {"state": "merged"},
    }
    other = {**path, "sourceBranch": "other", "targetBranch": "master", "title": "b"}
    second = run("mergeRequestCreate", "mergeRequest { iid }", **other)
    refused = run.answer("mergeRequestCreate", "mergeRequest { iid }", **other)
    assert "already exists" in refused["data"]["mergeRequestCreate"]["errors"][0]
    assert run("mergeRequestUpdate", "mergeRequest { state }", **path, iid=second["iid"], state="CLOSED") == {
        "state": "closed"
    }
    run("mergeRequestDelete", "mergeRequest { iid }", **path, iid=second["iid"])


def test_approvals(graphql: Graphql, make: Make, project: Project, owner: User, run: Mutations) -> None:
    path = {"projectPath": project.path}
    run("createBranch", "branch { name commit { sha } }", **path, name="approved", ref="master")
    commit = {
        "branch": "approved",
        "message": "Add",
        "actions": [{"action": "CREATE", "filePath": "n", "content": "n"}],
    }
    payload = run.answer("commitCreate", "commit { title } content", **path, **commit)["data"]["commitCreate"]
    assert payload == {"errors": [], "commit": {"title": "Add"}, "content": ["n"]}
    created = run(
        "mergeRequestCreate", "mergeRequest { iid }", **path, sourceBranch="approved", targetBranch="master", title="a"
    )
    by_root = Mutations(graphql, make.root)
    selected = "mergeRequest { approved approvedBy { nodes { username } } }"
    approved = by_root("mergeRequestApprove", selected, **path, iid=created["iid"])
    assert approved["approvedBy"]["nodes"] == [{"username": "root"}]
    assert by_root("mergeRequestUnapprove", selected, **path, iid=created["iid"])["approvedBy"]["nodes"] == []


def test_planning(run: Mutations, api: Api, project: Project, owner: User) -> None:
    path = {"projectPath": project.path}
    label = run("labelCreate", "label { id }", **path, title="doing")
    assert run("labelUpdate", "label { title color }", id=label["id"], title="done", color="#00ff00")["title"] == "done"
    board = run("createBoard", "board { id name hideClosedList }", **path, name="plan", hideClosedList=True)
    assert board["hideClosedList"] is True
    assert run("updateBoard", "board { name }", id=board["id"], name="roadmap") == {"name": "roadmap"}
    column = run("boardListCreate", "list { id title }", boardId=board["id"], labelId=label["id"])
    assert column["title"] == "done"
    issue = run("createIssue", "issue { iid }", **path, title="moved on the board")
    moved = run("issueMoveList", "issue { labels { nodes { title } } }", **path, iid=issue["iid"], boardId=board["id"],
                toListId=column["id"])  # fmt: skip
    assert moved["labels"]["nodes"] == [{"title": "done"}]
    run("updateBoardList", "list { position }", listId=column["id"], position=0)
    mine = run("boardListCreate", "list { id title listType assignee { id } label { id } }", boardId=board["id"],
               assigneeId=f"gid://gitlab/User/{owner.id}", position=0)  # fmt: skip
    assert (mine["listType"], mine["label"], mine["assignee"]["id"]) == (
        "assignee",
        None,
        f"gid://gitlab/User/{owner.id}",
    )
    limited = run("boardListUpdateLimitMetrics", "list { maxIssueCount limitMetric position }", listId=mine["id"],
                  maxIssueCount=5)  # fmt: skip
    assert limited == {"maxIssueCount": 5, "limitMetric": "issue_count", "position": 0}
    moved = run("issueMoveList", "issue { assignees { nodes { id } } labels { nodes { title } } }", **path,
                iid=issue["iid"], boardId=board["id"], fromListId=column["id"], toListId=mine["id"])  # fmt: skip
    assert (moved["assignees"]["nodes"], moved["labels"]["nodes"]) == ([{"id": f"gid://gitlab/User/{owner.id}"}], [])
    run("destroyBoardList", "list { id }", listId=column["id"])
    run("destroyBoard", "board { id }", id=board["id"])
    milestone = run("milestoneCreate", "milestone { id }", **path, title="3.0", dueDate="2031-01-01")
    closed = run("milestoneUpdate", "milestone { state title }", id=milestone["id"], stateEvent="close", title="3.1")
    assert closed == {"state": "closed", "title": "3.1"}
    run("milestoneDelete", "milestone { id }", id=milestone["id"])
    run("labelDelete", "label { id }", id=label["id"])
    titles = [each["name"] for each in api.get(f"{project.url}/labels", owner).json()]
    assert "done" not in titles


def test_snippets_releases_and_refs(run: Mutations, project: Project) -> None:
    path = {"projectPath": project.path}
    blobs = [{"action": "create", "filePath": "a.txt", "content": "one"}]
    for parent in (path, {}):
        snippet = run("createSnippet", "snippet { id blobs { nodes { path rawPlainData } } }", **parent, title="s",
                      visibilityLevel="private", blobActions=blobs)  # fmt: skip
        assert snippet["blobs"]["nodes"] == [{"path": "a.txt", "rawPlainData": "one"}]
        changed = [{"action": "update", "filePath": "a.txt", "content": "two"}]
        edited = run("updateSnippet", "snippet { title blobs { nodes { rawPlainData } } }", id=snippet["id"], title="t",
                     blobActions=changed)  # fmt: skip
        assert edited == {"title": "t", "blobs": {"nodes": [{"rawPlainData": "two"}]}}
        run("destroySnippet", "snippet { id }", id=snippet["id"])
    links = {"links": [{"name": "docs", "url": "https://example.org/a", "linkType": "OTHER"}]}
    release = run("releaseCreate", "release { tagName assets { links { nodes { id name } } } }", **path, tagName="v1",
                  ref="master", name="One", assets=links)  # fmt: skip
    link = release["assets"]["links"]["nodes"][0]["id"]
    assert run("releaseAssetLinkUpdate", "link { name }", id=link, name="manual") == {"name": "manual"}
    run("releaseAssetLinkCreate", "link { id }", **path, tagName="v1", name="b", url="https://example.org/b")
    run("releaseAssetLinkDelete", "link { id }", id=link)
    assert run("releaseUpdate", "release { name }", **path, tagName="v1", name="Uno") == {"name": "Uno"}
    run("releaseDelete", "release { tagName }", **path, tagName="v1")
    assert run("tagCreate", "tag { name }", **path, name="v2", ref="master") == {"name": "v2"}
    run("tagDelete", "tag { name }", **path, name="v2")
    run("createBranch", "branch { name }", **path, name="short", ref="master")
    run("branchDelete", "branch { name }", **path, name="short")


def test_projects_and_groups(run: Mutations, make: Make, graphql: Graphql, owner: User) -> None:
    name = make.name("graph")
    group = run("groupCreate", "group { fullPath visibility }", name=name, path=name, visibility="public")
    assert group == {"fullPath": name, "visibility": "public"}
    assert run("groupUpdate", "group { name }", fullPath=name, name="Renamed") == {"name": "Renamed"}
    created = run("projectCreate", "project { id fullPath }", name="inner", namespacePath=name)
    assert created["fullPath"] == f"{name}/inner"
    changed = run(
        "projectUpdate",
        "project { description archived }",
        fullPath=created["fullPath"],
        description="d",
        archived=True,
    )
    assert changed == {"description": "d", "archived": True}
    assert run("starProject", "count", projectId=created["id"], starred=True) == "1"
    assert run("starProject", "count", projectId=created["id"], starred=True) == "1"
    assert run("userStatusUpdate", "userStatus { message availability }", message="away", availability="BUSY") == {
        "message": "away",
        "availability": "BUSY",
    }
    run("projectDelete", "project { id }", fullPath=created["fullPath"])
    run("groupDelete", "group { id }", fullPath=name)
    assert graphql.data(f'{{ project(fullPath: "{name}/inner") {{ id }} }}', owner) == {"project": None}


def test_pipelines_and_jobs(run: Mutations, api: Api, make: Make, owner: User) -> None:
    project = make_project(make, owner, initialize_with_readme=True)
    path = {"projectPath": project.path}
    config = "build:\n  script: echo\nmanual:\n  script: echo\n  when: manual\n  allow_failure: false\n"
    actions = [{"action": "CREATE", "filePath": ".gitlab-ci.yml", "content": config}]
    run("commitCreate", "commit { sha }", **path, branch="master", message="CI", actions=actions)
    pipeline = run("pipelineCreate", "pipeline { id stages { nodes { name jobs { nodes { id name status } } } } }",
                   **path, ref="master", variables=[{"key": "A", "value": "b"}])  # fmt: skip
    jobs = {job["name"]: job["id"] for stage in pipeline["stages"]["nodes"] for job in stage["jobs"]["nodes"]}
    assert run("jobPlay", "job { status }", id=jobs["manual"])["status"] in ("PENDING", "CREATED")
    assert run("jobCancel", "job { status }", id=jobs["build"]) == {"status": "CANCELED"}
    assert run("jobRetry", "job { name }", id=jobs["build"]) == {"name": "build"}
    run("pipelineCancel", "clientMutationId", id=pipeline["id"])
    assert run("pipelineRetry", "pipeline { id }", id=pipeline["id"]) == {"id": pipeline["id"]}
    run("pipelineDestroy", "clientMutationId", id=pipeline["id"])


def test_artifacts_of_a_job_are_destroyed(run: Mutations, graphql: Graphql, make: Make, owner: User) -> None:
    developer = make.user()
    project = make_project(make, owner, members={developer: 30})
    rows = PipelineRows(make, "build 0", project=project)
    rows.process()
    token, job = rows.start("build"), rows.job("build").id
    assert upload(make.api, job, token, zip_of({"a.txt": b"a"})).status_code == 201
    rows.finish("build")
    sent = {"id": f"gid://gitlab/Ci::Build/{job}"}
    refused = Mutations(graphql, developer).answer("jobArtifactsDestroy", "destroyedArtifactsCount", **sent)
    assert refused["data"] == {"jobArtifactsDestroy": None}
    counts = []
    for _ in range(2):
        payload = run.answer(
            "jobArtifactsDestroy", "destroyedArtifactsCount job { name artifacts { nodes { name } } }", **sent
        )["data"]["jobArtifactsDestroy"]
        assert payload["job"] == {"name": "build", "artifacts": {"nodes": []}}
        counts.append(payload["destroyedArtifactsCount"])
    assert (counts[0] > 0, counts[1]) == (True, 0)


def test_refusals(run: Mutations, graphql: Graphql, make: Make, project: Project) -> None:
    """Errors of the input are part of the payload; hidden and forbidden objects look the same."""
    invalid = run.answer("createIssue", "issue { iid } clientMutationId", projectPath=project.path, title=" " * 3,
                         clientMutationId="7")  # fmt: skip
    assert invalid["data"]["createIssue"]["errors"]
    assert invalid["data"]["createIssue"]["issue"] is None
    assert invalid["data"]["createIssue"]["clientMutationId"] == "7"
    stranger = Mutations(graphql, make.user())
    for name, sent in (
        ("createIssue", {"projectPath": project.path, "title": "x"}),
        ("updateIssue", {"projectPath": project.path, "iid": "1", "title": "x"}),
        ("createNote", {"noteableId": "gid://gitlab/Issue/999999", "body": "x"}),
        ("projectDelete", {"fullPath": project.path}),
        ("destroySnippet", {"id": "gid://gitlab/Snippet/999999"}),
    ):
        answer = stranger.answer(name, "clientMutationId", **sent)
        assert answer["data"] == {name: None}
        assert "does not exist or you don't have permission" in answer["errors"][0]["message"]
        assert answer["errors"][0]["path"] == [name]
    wrong = run.answer("updateNote", "note { id }", id="gid://gitlab/Issue/1", body="x")
    assert "does not represent an instance" in wrong["data"]["updateNote"]["errors"][0]
