"""Work items: issues under the names of GitLab's newer schema."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.factories import Project, add_members, make_group, make_project
from tests.graphql.conftest import Graphql
from tests.statements import cold_reads, executed

ISSUE, TASK = "gid://gitlab/WorkItems::Type/1", "gid://gitlab/WorkItems::Type/5"
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
    issue, task = graphql.data(TYPES, owner, path=project.path)["namespace"]["workItemTypes"]["nodes"]
    assert [(each["id"], each["name"]) for each in (issue, task)] == [(ISSUE, "Issue"), (TASK, "Task")]
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

    statements(2)  # The first one also reads what is cached from then on.
    statements(2)  # What is cached then is read once.
    assert statements(8) <= statements(2)


HIERARCHY = """widgets(onlyTypes: [HIERARCHY]) { ... on WorkItemWidgetHierarchy { hasParent hasChildren parent { iid }
    ancestors { nodes { iid } } children { count nodes { iid title workItemType { name } } } } }"""


def _hierarchy(graphql: Graphql, project: Project, user: User, iid: int) -> Any:
    query = (
        f"query($path: ID!, $iid: String!) {{ namespace(fullPath: $path) {{ workItem(iid: $iid) {{ {HIERARCHY} }} }} }}"
    )
    found = graphql.data(query, user, path=project.path, iid=str(iid))
    return found["namespace"]["workItem"]["widgets"][0]


def _run(graphql: Graphql, user: User, name: str, fields: str, **values: Any) -> Any:
    kind = name[0].upper() + name[1:]
    query = f"mutation($input: {kind}Input!) {{ {name}(input: $input) {{ workItem {{ {fields} }} errors }} }}"
    return graphql.answer(query, user, input=values)


def _gid(api: Api, project: Project, user: User, iid: int) -> str:
    return f"gid://gitlab/WorkItem/{api.get(f'{project.url}/issues/{iid}', user).json()['id']}"


def test_issues_contain_tasks(graphql: Graphql, api: Api, make: Make, project: Project, owner: User) -> None:
    issue, other = _gid(api, project, owner, 1), _gid(api, project, owner, 2)
    sent = {
        "namespacePath": project.path,
        "title": "Part",
        "workItemTypeId": TASK,
        "hierarchyWidget": {"parentId": issue},
    }
    made = _run(graphql, owner, "workItemCreate", "iid workItemType { name }", **sent)["data"]["workItemCreate"]
    assert made == {"workItem": {"iid": "3", "workItemType": {"name": "Task"}}, "errors": []}
    assert api.post(f"{project.url}/issues", owner, title="Secret", issue_type="task", confidential=True).is_success
    children = [_gid(api, project, owner, 4)]
    update = _run(graphql, owner, "workItemUpdate", HIERARCHY, id=issue, hierarchyWidget={"childrenIds": children})
    shown = update["data"]["workItemUpdate"]["workItem"]["widgets"][0]
    assert [child["iid"] for child in shown["children"]["nodes"]] == ["3", "4"]
    guest = make.user()
    add_members(make, project, {guest: 10})
    seen = _hierarchy(graphql, project, guest, 1)
    assert seen == {
        "hasParent": False,
        "hasChildren": True,
        "parent": None,
        "ancestors": {"nodes": []},
        "children": {"count": 1, "nodes": [{"iid": "3", "title": "Part", "workItemType": {"name": "Task"}}]},
    }, "A confidential task is not shown."
    task = _hierarchy(graphql, project, guest, 3)
    assert (task["hasParent"], task["parent"], task["ancestors"]) == (True, {"iid": "1"}, {"nodes": [{"iid": "1"}]})
    assert [note["body"] for note in api.get(f"{project.url}/issues/3/notes", owner).json()] == []
    assert "added #1 as parent issue" in [
        note["body"] for note in api.get(f"{project.url}/issues/4/notes", owner).json()
    ]

    task_id = _gid(api, project, owner, 3)
    refused = _run(graphql, owner, "workItemUpdate", "iid", id=other, hierarchyWidget={"parentId": issue})
    assert "only an issue can contain tasks" in refused["data"]["workItemUpdate"]["errors"][0]
    for value in (2**62, 0, 2**63):
        assert api.put(f"{project.url}/issues/3", owner, parent_id=value).status_code == 400
    elsewhere = make_project(make, owner)
    foreign = api.post(f"{elsewhere.url}/issues", owner, title="Far").json()["id"]
    assert api.put(f"{project.url}/issues/3", owner, parent_id=foreign).status_code == 400
    assert _hierarchy(graphql, project, owner, 3)["parent"] == {"iid": "1"}
    _run(graphql, guest, "workItemUpdate", "iid", id=task_id, hierarchyWidget={"parentId": other})
    assert _hierarchy(graphql, project, owner, 3)["parent"] == {"iid": "1"}, "A guest may not change it."
    removed = _run(graphql, owner, "workItemUpdate", HIERARCHY, id=task_id, hierarchyWidget={"parentId": None})
    assert removed["data"]["workItemUpdate"]["workItem"]["widgets"][0]["hasParent"] is False
    assert api.delete(f"{project.url}/issues/1", owner).is_success
    assert _hierarchy(graphql, project, owner, 4)["hasParent"] is False


def test_conversion(graphql: Graphql, api: Api, make: Make, project: Project, owner: User) -> None:
    work_item = _gid(api, project, owner, 1)

    def convert(user: User, kind: str) -> Any:
        return _run(graphql, user, "workItemConvert", "workItemType { id name }", id=work_item, workItemTypeId=kind)

    assert convert(owner, TASK)["data"]["workItemConvert"]["workItem"]["workItemType"] == {"id": TASK, "name": "Task"}
    shown = api.get(f"{project.url}/issues/1", owner).json()
    assert (shown["issue_type"], shown["type"]) == ("task", "TASK")
    assert api.get(f"{project.url}/issues/1/notes", owner).json()[0]["body"] == "changed type from issue to task"
    for kind, iids in (("task", [1]), ("issue", [2]), ("incident", [])):
        listed = api.get(f"{project.url}/issues", owner, issue_type=kind)
        assert ([each["iid"] for each in listed.json()], listed.headers["x-total"]) == (iids, str(len(iids)))
        found = api.get(f"{project.url}/issues_statistics", owner, issue_type=kind).json()
        assert found["statistics"]["counts"]["all"] == len(iids)
    assert len(api.get(f"{project.url}/issues", owner).json()) == 2
    parent = api.get(f"{project.url}/issues/2", owner).json()["id"]
    assert api.put(f"{project.url}/issues/1", owner, parent_id=parent).status_code == 200
    for iid, kind in ((1, "issue"), (2, "task")):
        assert api.put(f"{project.url}/issues/{iid}", owner, issue_type=kind).status_code == 400
    sent = {"parent_id": None}
    assert api.request("PUT", f"{project.url}/issues/1", owner, json=sent).status_code == 200
    assert convert(owner, ISSUE)["data"]["workItemConvert"]["workItem"]["workItemType"]["name"] == "Issue"
    assert convert(owner, "gid://gitlab/WorkItems::Type/8")["data"]["workItemConvert"]["errors"] == [
        "Work item type not found"
    ]
    assert convert(make.user(), TASK)["data"]["workItemConvert"] is None
    assert api.post(f"{project.url}/issues", owner, title="x", issue_type="nonsense").status_code == 400
