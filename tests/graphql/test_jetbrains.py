"""Queries of the shape that JetBrains IDEs send for merge requests."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql

PAGE = "pageInfo { startCursor hasPreviousPage hasNextPage endCursor }"
USER = "fragment person on User { id username name avatarUrl webUrl }"
PROJECT = """fragment place on Project { id name nameWithNamespace path fullPath httpUrlToRepo sshUrlToRepo
    squashReadOnly removeSourceBranchAfterMerge onlyAllowMergeIfAllDiscussionsAreResolved
    onlyAllowMergeIfPipelineSucceeds allowMergeOnSkippedPipeline mergeRequestsFfOnlyEnabled
    allowsMultipleMergeRequestAssignees allowsMultipleMergeRequestReviewers
    userPermissions { createSnippet } repository { rootRef } }"""
MERGE_REQUEST = f"""fragment request on MergeRequest {{ id iid title description webUrl createdAt
    targetBranch sourceBranch
    labels(first: 100) {{ {PAGE} nodes {{ id title color textColor }} }}
    diffRefs {{ baseSha startSha headSha }} approvalsRequired conflicts
    headPipeline {{ jobs(first: 100) {{ {PAGE}
      nodes {{ name status allowFailure detailedStatus {{ detailsPath }} }} }} }}
    mergeStatusEnum mergeable state draft squash squashOnMerge squashReadOnly
    defaultSquashCommitMessage defaultMergeCommitMessage
    shouldRemoveSourceBranch forceRemoveSourceBranch shouldBeRebased rebaseInProgress
    targetProject {{ ...place }} sourceProject {{ ...place }} author {{ ...person }}
    approvedBy(first: 100) {{ {PAGE} nodes {{ ...person }} }}
    assignees(first: 100) {{ {PAGE} nodes {{ ...person }} }}
    reviewers(first: 100) {{ {PAGE} nodes {{ ...person mergeRequestInteraction {{ approved reviewed reviewState }} }} }}
    commits(first: 100) {{ {PAGE} nodes {{ sha shortId fullTitle description author {{ ...person }}
      authorName authoredDate }} }}
    userPermissions {{ canApprove canMerge createNote updateMergeRequest }} }} {PROJECT} {USER}"""
ONE = f"""query($projectId: ID!, $mergeRequestId: String!) {{ project(fullPath: $projectId) {{
    mergeRequest(iid: $mergeRequestId) {{ ...request }} }} }} {MERGE_REQUEST}"""
AGAIN = f"""mutation($projectId: ID!, $mergeRequestId: String!, $userId: UserID!) {{
    mergeRequestReviewerRereview(input: {{
    projectPath: $projectId, iid: $mergeRequestId, userId: $userId }}) {{ mergeRequest {{ ...request }} errors }} }}
    {MERGE_REQUEST}"""


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(instance: Instance, make: Make, owner: User) -> Project:
    """Return a project with a merge request whose target branch has another commit."""
    project = make_project(make, owner)
    history = History()
    first = history.commit("master", {"README.md": "hello\n"})
    history.commit("topic", {"a.txt": "a\n"}, "Write a\n\nBecause.", parents=(first,))
    history.commit("topic", {"c.txt": "c\n"}, "Write c")
    history.commit("master", {"b.txt": "b\n"}, parents=(first,))
    history.fill(instance, project)
    sent = {"source_branch": "topic", "target_branch": "master", "title": "Add a"}
    assert make.api.post(f"{project.url}/merge_requests", owner, **sent).status_code == 201
    return project


def shown(graphql: Graphql, project: Project, user: User) -> dict[str, Any]:
    answer: dict[str, Any] = graphql.data(ONE, user, projectId=project.path, mergeRequestId="1")["project"]
    opened: dict[str, Any] = answer["mergeRequest"]
    return opened


def test_an_ide_opens_a_merge_request(graphql: Graphql, api: Api, project: Project, owner: User) -> None:
    first = shown(graphql, project, owner)
    place = first["targetProject"]
    assert (first["squashReadOnly"], place["squashReadOnly"], first["shouldBeRebased"]) == (False, False, False)
    assert place["allowsMultipleMergeRequestAssignees"] and place["allowsMultipleMergeRequestReviewers"]
    assert place["repository"] == {"rootRef": "master"}
    assert first["defaultSquashCommitMessage"] == "Add a"
    assert first["defaultMergeCommitMessage"] == (
        f"Merge branch 'topic' into 'master'\n\nAdd a\n\nSee merge request {project.path}!1"
    )
    assert [commit["fullTitle"] for commit in first["commits"]["nodes"]] == ["Write c", "Write a"]
    options = {"merge_method": "ff", "squash_option": "always", "allow_merge_on_skipped_pipeline": True}
    options |= {
        "squash_commit_template": "%{title}\n\n%{all_commits}",
        "merge_commit_template": "Merge %{local_reference}",
    }
    assert api.put(project.url, owner, **options).status_code == 200
    second = shown(graphql, project, owner)
    assert (second["squashReadOnly"], second["shouldBeRebased"]) == (True, True)
    assert second["targetProject"]["squashReadOnly"] and second["targetProject"]["allowMergeOnSkippedPipeline"]
    assert second["defaultMergeCommitMessage"] == "Merge !1"
    assert second["defaultSquashCommitMessage"] == "Add a\n\n* Write c\n\n* Write a\n\nBecause."

    assert api.put(f"{project.url}/merge_requests/1/rebase", owner).status_code == 202
    assert shown(graphql, project, owner)["shouldBeRebased"] is False
    assert api.put(f"{project.url}/merge_requests/1/merge", owner).status_code == 200
    last = api.get(f"{project.url}/repository/commits/master", owner).json()
    assert last["message"].strip() == second["defaultSquashCommitMessage"], "The proposed message is that of the merge."


def test_messages_show_no_hidden_code(graphql: Graphql, api: Api, make: Make, project: Project, owner: User) -> None:
    guest = make.user()
    add_members(make, project, {guest: 10})
    assert api.put(project.url, owner, visibility="public", repository_access_level="private").status_code == 200
    outsider = make.user()
    query = """query($path: ID!) { project(fullPath: $path) { mergeRequest(iid: "1") {
        defaultMergeCommitMessage defaultSquashCommitMessage } } }"""
    for user in (None, outsider):
        answer = graphql.answer(query, user, path=project.path)["data"]["project"]["mergeRequest"]
        assert answer is None or answer == {"defaultMergeCommitMessage": None, "defaultSquashCommitMessage": None}


def test_another_review(graphql: Graphql, api: Api, make: Make, project: Project, owner: User) -> None:
    """The approval ends, and the reviewer gets a to-do item; only for reviewers, and by those who may edit."""
    reviewer, other, reader = make.user(), make.user(), make.user()
    add_members(make, project, {reviewer: 30, other: 30, reader: 20})
    url = f"{project.url}/merge_requests/1"
    assert api.put(url, owner, reviewer_ids=[reviewer.id]).status_code == 200
    assert api.post(f"{url}/approve", reviewer).status_code == 201
    assert api.post("/todos/mark_as_done", reviewer).is_success

    def send(user: User, chosen: User) -> dict[str, Any]:
        variables = {"projectId": project.path, "mergeRequestId": "1", "userId": f"gid://gitlab/User/{chosen.id}"}
        return graphql.answer(AGAIN, user, **variables)

    assert send(reader, reviewer)["data"]["mergeRequestReviewerRereview"] is None
    assert send(owner, other)["data"]["mergeRequestReviewerRereview"]["errors"] == ["Reviewer not found"]
    assert [each["state"] for each in api.get(f"{url}/reviewers", owner).json()] == ["approved"]
    answer = send(owner, reviewer)["data"]["mergeRequestReviewerRereview"]
    assert answer["errors"] == []
    (shown_reviewer,) = answer["mergeRequest"]["reviewers"]["nodes"]
    assert shown_reviewer["mergeRequestInteraction"]["approved"] is False
    assert [todo["action_name"] for todo in api.get("/todos", reviewer).json()] == ["review_requested"]
    notes = api.get(f"{url}/notes", owner, sort="asc").json()
    assert notes[-1]["body"] == f"requested review from @{reviewer.username}"
    assert [each["state"] for each in api.get(f"{url}/reviewers", owner).json()] == ["unreviewed"]
    assert api.post(f"{project.url}/merge_requests/1/reviewers/{other.id}/request_review", owner).status_code == 404


def test_the_caller_has_not_turned_on_gitpod(graphql: Graphql, owner: User) -> None:
    assert graphql.data("{ currentUser { username gitpodEnabled } }", owner)["currentUser"] == {
        "username": owner.username,
        "gitpodEnabled": False,
    }
