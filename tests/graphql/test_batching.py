"""Lists cost the same number of statements regardless of their length."""

import httpx

from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import add_members, make_group, make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql
from tests.statements import cold_reads, executed

ISSUES = """query($path: ID!, $first: Int!) { project(fullPath: $path) { name issues(first: $first) { nodes {
    iid title webPath descriptionHtml reference author { username webUrl createdAt publicEmail }
    assignees { nodes { username } } labels { nodes { id title color } } milestone { title project { name } }
    taskCompletionStatus { count } timeEstimate } } } }"""
PROJECTS = """query($first: Int!) { projects(first: $first, search: "batched") { nodes {
    fullPath namespace { fullPath } group { id } forkedFrom { id } topics } } }"""
TODOS = """query($first: Int!) { currentUser { todos(first: $first) { nodes {
    action body author { username } project { fullPath } target { webUrl } } } } }"""
MERGE_REQUESTS = """query($path: ID!, $first: Int!) { project(fullPath: $path) { mergeRequests(first: $first) { nodes {
    iid author { username mergeRequestInteraction { canMerge } }
    assignees { nodes { mergeRequestInteraction { canUpdate } } }
    reviewers { nodes { username mergeRequestInteraction {
    approved reviewed reviewState canMerge canUpdate } } } } } } }"""
PARTS = """query($path: ID!, $first: Int!) { project(fullPath: $path) {
    environments(first: $first) { nodes { name path tier } }
    branchRules(first: $first) { nodes { name createdAt matchingBranchesCount branchProtection { allowForcePush } } }
    packages(first: $first) { nodes { name updatedAt project { fullPath } tags { nodes { name } } } } } }"""
TREE = """query($path: ID!, $first: Int!) { project(fullPath: $path) { repository { tree {
    blobs(first: $first) { nodes { path lfsOid } } } } } }"""
MEMBERSHIPS = """query($first: Int!) { currentUser {
    projectMemberships(first: $first) { nodes { id project { fullPath } user { username } } }
    groupMemberships(first: $first) { nodes { id group { fullPath maxAccessLevel { integerValue } } } } } }"""
USERS = """query($first: Int!) { users(first: $first, search: "person") { nodes {
    username groupCount emails { nodes { email } } } } }"""
SIZES = (3, 12)


def _statements(graphql: Graphql, make: Make, user: User, query: str, **variables: object) -> int:
    graphql.data(query, user, **variables)  # Renders texts and compiles statements.
    before = executed(make.database)
    with cold_reads():
        graphql.data(query, user, **variables)
    return executed(make.database) - before


def test_lists_of_parts_take_a_constant_number_of_statements(graphql: Graphql, make: Make, instance: Instance) -> None:
    owner, reviewers = make.user(), [make.user() for _ in range(12)]
    project = make_project(make, owner)
    add_members(make, project, dict.fromkeys(reviewers, 30))
    history = History()
    history.commit("master", {f"file-{number}.txt": f"{number}\n" for number in range(12)})
    for number in range(12):
        history.commit(f"topic-{number}", {"new.txt": f"{number}\n"}, parents=(1,))
    history.fill(instance, project)
    api = make.api
    for number, reviewer in enumerate(reviewers):
        sent = {"source_branch": f"topic-{number}", "target_branch": "master", "assignee_ids": [reviewer.id]}
        reviewer_ids = [reviewer.id, reviewers[number - 1].id]
        made = api.post(f"{project.url}/merge_requests", reviewer, **sent, title="m", reviewer_ids=reviewer_ids)
        assert made.status_code == 201, made.text
        assert api.post(f"{project.url}/environments", owner, name=f"review/{number}").status_code == 201
        assert api.post(f"{project.url}/protected_branches", owner, name=f"topic-{number}").status_code == 201
        package = f"{instance.url}/api/v4{project.url}/packages/generic/tool/{number}/tool.bin"
        assert httpx.put(package, content=b"x", headers={"PRIVATE-TOKEN": owner.token}).status_code == 201
        make_group(make, owner)
        add_members(make, make_project(make, reviewer), {owner: 30})
        assert api.post("/user/emails", reviewer, email=f"batched-{number}@example.org").status_code == 201
    of_project = {"path": project.path}
    for user, query, values in (
        (owner, MERGE_REQUESTS, of_project),
        (owner, PARTS, of_project),
        (owner, TREE, of_project),
        (owner, MEMBERSHIPS, {}),
        (make.root, USERS, {}),
    ):
        few, many = (_statements(graphql, make, user, query, **values, first=first) for first in SIZES)
        assert many <= few + 3, query  # Each page that is full is counted.
        assert few < 40


def test_lists_take_a_constant_number_of_statements(graphql: Graphql, make: Make) -> None:
    owner, others = make.user(), [make.user() for _ in range(3)]
    project = make_project(make, owner)
    add_members(make, project, dict.fromkeys(others, 30))
    api = make.api
    milestones = [api.post(f"{project.url}/milestones", owner, title=str(n)).json()["id"] for n in range(3)]
    for number in range(50):
        author = others[number % 3]
        sent = {"labels": f"a{number % 5},b", "milestone_id": milestones[number % 3], "assignee_ids": [owner.id]}
        api.post(f"{project.url}/issues", author, title=f"issue {number}", description=f"text {number % 4}", **sent)
    for number in range(50):
        make_project(make, owner, name=make.name(f"batched-{number}"))

    for query, values in ((ISSUES, {"path": project.path}), (PROJECTS, {}), (TODOS, {})):
        few, many = (_statements(graphql, make, owner, query, **values, first=first) for first in (5, 50))
        assert many <= few + 1, query  # A page that is full is counted.
        assert few < 40
