"""Lists cost the same number of statements regardless of their length."""

from tests.client import Make
from tests.factories import add_members, make_project
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

    def statements(query: str, **variables: object) -> int:
        graphql.data(query, owner, **variables)  # Renders texts and compiles statements.
        before = executed(make.database)
        with cold_reads():
            graphql.data(query, owner, **variables)
        return executed(make.database) - before

    for query, values in ((ISSUES, {"path": project.path}), (PROJECTS, {}), (TODOS, {})):
        few, many = (statements(query, **values, first=first) for first in (5, 50))
        assert many <= few + 1, query  # A page that is full is counted.
        assert few < 40
