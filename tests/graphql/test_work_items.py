"""Work items: issues under the names of GitLab's newer schema."""

import pytest

from tests.client import Api, Make, User
from tests.factories import Project, make_group, make_project
from tests.graphql.conftest import Graphql
from tests.statements import cold_reads, executed

WIDGETS = """widgets { __typename type
    ... on WorkItemWidgetLinkedItems { linkedItems { nodes { linkType workItemState workItem { iid title } } } }
    ... on WorkItemWidgetTimeTracking { timeEstimate totalTimeSpent
      humanReadableAttributes { timeEstimate totalTimeSpent }
      timelogs { nodes { id timeSpent summary spentAt user { username } } } }
    ... on WorkItemWidgetAssignees { allowsMultipleAssignees } }"""
ONE = f"""query($path: ID!, $iid: String!) {{ namespace(fullPath: $path) {{ id fullPath fullName projects {{ count }}
    workItem(iid: $iid) {{ id iid title namespace {{ id fullPath }} {WIDGETS} }} }} }}"""
TYPES = """query($path: ID!, $name: IssueType) { namespace(fullPath: $path) { workItemTypes(name: $name) { nodes {
    id name iconName widgetDefinitions { type } } } } }"""
MANY = """query($path: ID!, $all: Boolean) { namespace(fullPath: $path) {
    workItems(first: 20, includeDescendants: $all) { count nodes { title } } } }"""


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    project = make_project(make, owner, group=make_group(make, owner))
    for title in ("One", "Two"):
        assert make.api.post(f"{project.url}/issues", owner, title=title).status_code == 201
    return project


def test_a_project_is_a_namespace_with_work_items(
    graphql: Graphql, api: Api, make: Make, project: Project, owner: User
) -> None:
    sent = {"target_project_id": project.id, "target_issue_iid": 2, "link_type": "blocks"}
    assert api.post(f"{project.url}/issues/1/links", owner, **sent).status_code == 201
    assert api.post(f"{project.url}/issues/1/time_estimate", owner, duration="3h").is_success
    assert api.post(f"{project.url}/issues/1/add_spent_time", owner, duration="30m", summary="Read").is_success
    shown = graphql.data(ONE, owner, path=project.path, iid="1")["namespace"]
    namespace = f"gid://gitlab/Namespaces::ProjectNamespace/{project.id}"
    assert (shown["id"], shown["fullPath"], shown["projects"]) == (namespace, project.path, {"count": 0})
    assert shown["workItem"]["namespace"] == {"id": namespace, "fullPath": project.path}
    widgets = {widget["type"]: widget for widget in shown["workItem"]["widgets"]}
    assert widgets["LINKED_ITEMS"]["linkedItems"]["nodes"] == [
        {"linkType": "blocks", "workItemState": "OPEN", "workItem": {"iid": "2", "title": "Two"}}
    ]
    time = widgets["TIME_TRACKING"]
    assert (time["timeEstimate"], time["totalTimeSpent"]) == (3 * 3600, 30 * 60)
    assert time["humanReadableAttributes"] == {"timeEstimate": "3h", "totalTimeSpent": "30m"}
    (entry,) = time["timelogs"]["nodes"]
    assert (entry["timeSpent"], entry["summary"], entry["user"]["username"]) == (1800, "Read", owner.username)
    assert widgets["ASSIGNEES"]["allowsMultipleAssignees"] is False, "Issues have one assignee."

    for other in (None, make.user()):
        assert graphql.answer(ONE, other, path=project.path, iid="1")["data"]["namespace"] is None
    assert graphql.answer(ONE, owner, path=project.path, iid="9")["data"]["namespace"]["workItem"] is None


def test_work_items_of_groups_are_those_of_their_projects(graphql: Graphql, project: Project, owner: User) -> None:
    group = project.path.rpartition("/")[0]
    titles = [{"title": "Two"}, {"title": "One"}]
    for path, everything, nodes in ((project.path, None, titles), (group, True, titles), (group, None, [])):
        found = graphql.data(MANY, owner, path=path, all=everything)["namespace"]["workItems"]
        assert found == {"count": len(nodes), "nodes": nodes}, path
    one = graphql.data(
        'query($path: ID!) { namespace(fullPath: $path) { workItem(iid: "1") { id } } }', owner, path=group
    )
    assert one["namespace"] == {"workItem": None}, "A group has no issues of its own."
    own = graphql.data(MANY, owner, path=owner.username, all=True)["namespace"]["workItems"]
    assert own == {"count": 0, "nodes": []}


def test_types(graphql: Graphql, project: Project, owner: User) -> None:
    (issue,) = graphql.data(TYPES, owner, path=project.path)["namespace"]["workItemTypes"]["nodes"]
    assert issue["name"] == "Issue"
    shown = graphql.data(ONE, owner, path=project.path, iid="1")["namespace"]["workItem"]["widgets"]
    assert [widget["type"] for widget in issue["widgetDefinitions"]] == [widget["type"] for widget in shown]
    assert graphql.data(TYPES, owner, path=project.path, name="EPIC")["namespace"]["workItemTypes"]["nodes"] == []


def test_widgets_take_a_constant_number_of_statements(
    graphql: Graphql, make: Make, project: Project, owner: User
) -> None:
    query = """query($path: ID!, $first: Int!) { project(fullPath: $path) { workItems(first: $first) { nodes {
        namespace { fullPath } widgets { ... on WorkItemWidgetTimeTracking { timeEstimate
        timelogs { nodes { user { username } } } } } } } } }"""
    for number in range(6):
        make.api.post(f"{project.url}/issues", owner, title=f"More {number}")
    for number in range(8):
        make.api.post(f"{project.url}/issues/{number + 1}/add_spent_time", owner, duration="1h")

    def statements(first: int) -> int:
        graphql.data(query, owner, path=project.path, first=first)
        before = executed(make.database)
        with cold_reads():
            graphql.data(query, owner, path=project.path, first=first)
        return executed(make.database) - before

    assert statements(2) == statements(8)
