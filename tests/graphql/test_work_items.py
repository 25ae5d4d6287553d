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
    issue, incident, task = graphql.data(TYPES, owner, path=project.path)["namespace"]["workItemTypes"]["nodes"]
    assert [(each["id"], each["name"]) for each in (issue, task)] == [(ISSUE, "Issue"), (TASK, "Task")]
    assert (incident["id"], incident["name"]) == ("gid://gitlab/WorkItems::Type/2", "Incident")
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
    assert "only an issue or incident can contain tasks" in refused["data"]["workItemUpdate"]["errors"][0]
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


CREATE = """mutation($input: WorkItemCreateInput!) { workItemCreate(input: $input) { errors workItem { id iid } } }"""
UPDATE = """mutation($input: WorkItemUpdateInput!) { workItemUpdate(input: $input) { errors workItem { id iid } } }"""
LINK = """mutation($input: WorkItemAddLinkedItemsInput!) { workItemAddLinkedItems(input: $input) {
    errors message workItem { iid } } }"""
UNLINK = """mutation($input: WorkItemRemoveLinkedItemsInput!) { workItemRemoveLinkedItems(input: $input) {
    errors message workItem { iid } } }"""
ALL_WIDGETS = """query($path: ID!, $iid: String!) { namespace(fullPath: $path) { workItem(iid: $iid) {
    widgets {
    type
    ... on WorkItemWidgetDescription { description }
    ... on WorkItemWidgetLabels { labels { nodes { title } } }
    ... on WorkItemWidgetAssignees { assignees { nodes { username } } }
    ... on WorkItemWidgetMilestone { milestone { title } }
    ... on WorkItemWidgetStartAndDueDate { startDate dueDate }
    ... on WorkItemWidgetNotes { discussionLocked }
    ... on WorkItemWidgetLinkedItems { blocked blockedByCount blockingCount linkedItems { nodes { linkType } } }
    ... on WorkItemWidgetAwardEmoji { upvotes downvotes awardEmoji { nodes { name } } }
    ... on WorkItemWidgetDevelopment { willAutoCloseByMergeRequest featureFlags { nodes { name } }
      relatedBranches { nodes { name } } relatedMergeRequests { nodes { iid } }
      closingMergeRequests { nodes { mergeRequest { iid title } } } }
    ... on WorkItemWidgetWeight { weight }
    } } } }"""


def _widgets(graphql: Graphql, project: Project, user: User, iid: str) -> dict[str, Any]:
    shown = graphql.data(ALL_WIDGETS, user, path=project.path, iid=iid)["namespace"]["workItem"]
    return {widget["type"]: widget for widget in shown["widgets"]}


def _mutated(graphql: Graphql, mutation: str, user: User | None, **sent: Any) -> dict[str, Any]:
    (payload,) = graphql.data(mutation, user, input=sent).values()
    return dict(payload)


def test_widgets_of_new_and_changed_work_items(
    graphql: Graphql, api: Api, make: Make, project: Project, owner: User
) -> None:
    bug, later = (
        f"gid://gitlab/ProjectLabel/{api.post(f'{project.url}/labels', owner, name=name, color='#112233').json()['id']}"
        for name in ("bug", "later")
    )
    milestone = api.post(f"{project.url}/milestones", owner, title="One").json()["id"]
    sent = {
        "descriptionWidget": {"description": "Text"},
        "labelsWidget": {"labelIds": [bug]},
        "assigneesWidget": {"assigneeIds": [f"gid://gitlab/User/{owner.id}"]},
        "milestoneWidget": {"milestoneId": f"gid://gitlab/Milestone/{milestone}"},
        "startAndDueDateWidget": {"dueDate": "2030-01-31"},
    }
    made = _mutated(graphql, CREATE, owner, namespacePath=project.path, workItemTypeId=ISSUE, title="New", **sent)
    assert made["errors"] == []
    number, iid = made["workItem"]["id"], made["workItem"]["iid"]
    shown = _widgets(graphql, project, owner, iid)
    assert shown["DESCRIPTION"]["description"] == "Text"
    assert shown["LABELS"]["labels"]["nodes"] == [{"title": "bug"}]
    assert shown["ASSIGNEES"]["assignees"]["nodes"] == [{"username": owner.username}]
    assert shown["MILESTONE"]["milestone"] == {"title": "One"}
    assert shown["START_AND_DUE_DATE"] == {"type": "START_AND_DUE_DATE", "startDate": None, "dueDate": "2030-01-31"}
    assert "WEIGHT" not in shown
    changes = {
        "descriptionWidget": {"description": "Other"},
        "labelsWidget": {"addLabelIds": [later], "removeLabelIds": [bug]},
        "assigneesWidget": {"assigneeIds": []},
        "milestoneWidget": {"milestoneId": None},
        "startAndDueDateWidget": {"dueDate": None},
        "notesWidget": {"discussionLocked": True},
    }
    assert _mutated(graphql, UPDATE, owner, id=number, **changes)["errors"] == []
    shown = _widgets(graphql, project, owner, iid)
    assert (shown["DESCRIPTION"]["description"], shown["NOTES"]["discussionLocked"]) == ("Other", True)
    assert shown["LABELS"]["labels"]["nodes"] == [{"title": "later"}]
    assert shown["ASSIGNEES"]["assignees"]["nodes"] == []
    assert (shown["MILESTONE"]["milestone"], shown["START_AND_DUE_DATE"]["dueDate"]) == (None, None)
    assert _mutated(graphql, UPDATE, owner, id=number)["workItem"]["iid"] == iid, "Nothing is changed."
    for wrong in (
        {"startAndDueDateWidget": {"startDate": "2030-01-01"}},
        {"labelsWidget": {"addLabelIds": ["gid://gitlab/ProjectLabel/999999999"]}},
        {"milestoneWidget": {"milestoneId": "gid://gitlab/Milestone/999999999"}},
    ):
        answer = graphql.answer(UPDATE, owner, input={"id": number, **wrong})
        assert answer.get("errors") or answer["data"]["workItemUpdate"]["errors"], wrong
    for other in (make.user(), None):
        refused = graphql.answer(UPDATE, other, input={"id": number, "title": "Taken"})
        assert refused.get("errors") or refused["data"]["workItemUpdate"]["errors"]
    assert api.get(f"{project.url}/issues/{iid}", owner).json()["title"] == "New"


def test_linked_items(graphql: Graphql, api: Api, make: Make, project: Project, owner: User) -> None:
    one, two, three = (
        f"gid://gitlab/WorkItem/{api.post(f'{project.url}/issues', owner, title=title).json()['id']}"
        for title in ("A", "B", "C")
    )
    linked = _mutated(graphql, LINK, owner, id=one, workItemsIds=[two, three], linkType="BLOCKED_BY")
    assert (linked["errors"], linked["message"]) == ([], "Linked 2 items.")
    iid = linked["workItem"]["iid"]
    shown = _widgets(graphql, project, owner, iid)["LINKED_ITEMS"]
    assert (shown["blocked"], shown["blockedByCount"], shown["blockingCount"]) == (True, 2, 0)
    api.put(f"{project.url}/issues/{int(iid) + 1}", owner, state_event="close")
    shown = _widgets(graphql, project, owner, iid)["LINKED_ITEMS"]
    assert (shown["blocked"], shown["blockedByCount"]) == (True, 1), "Only open issues block."
    assert _widgets(graphql, project, owner, str(int(iid) + 2))["LINKED_ITEMS"]["blockingCount"] == 1
    assert _mutated(graphql, LINK, owner, id=one, workItemsIds=[two])["errors"], "They are linked already."
    assert _mutated(graphql, LINK, owner, id=one, workItemsIds=[two] * 11)["errors"]
    stranger = make.user()
    for mutation in (LINK, UNLINK):
        refused = graphql.answer(mutation, stranger, input={"id": one, "workItemsIds": [two]})
        assert refused.get("errors") or next(iter(refused["data"].values()))["errors"]
    removed = _mutated(graphql, UNLINK, owner, id=one, workItemsIds=[two])
    assert (removed["errors"], removed["message"]) == ([], "Unlinked 1 items.")
    assert _mutated(graphql, UNLINK, owner, id=one, workItemsIds=[two])["errors"], "It is not linked any more."
    assert [each["title"] for each in api.get(f"{project.url}/issues/{iid}/links", owner).json()] == ["C"]


def test_development_and_emoji(graphql: Graphql, api: Api, make: Make, owner: User) -> None:
    project = make_project(make, owner, initialize_with_readme=True, default_branch="main")
    for title in ("One", "Two"):
        api.post(f"{project.url}/issues", owner, title=title)
    for branch in ("1-fix", "11-other"):
        api.post(f"{project.url}/repository/branches", owner, branch=branch, ref="main")
    file = {"branch": "1-fix", "content": "x", "commit_message": "Add"}
    assert api.post(f"{project.url}/repository/files/a.txt", owner, **file).status_code == 201
    sent = {"source_branch": "1-fix", "target_branch": "main", "title": "Fix", "description": "Closes #1"}
    assert api.post(f"{project.url}/merge_requests", owner, **sent).status_code == 201
    assert api.post(f"{project.url}/issues/1/award_emoji", make.root, name="thumbsup").status_code == 201
    shown = _widgets(graphql, project, owner, "1")
    assert shown["DEVELOPMENT"] == {
        "type": "DEVELOPMENT",
        "willAutoCloseByMergeRequest": True,
        "featureFlags": {"nodes": []},
        "relatedBranches": {"nodes": [{"name": "1-fix"}]},
        "relatedMergeRequests": {"nodes": [{"iid": "1"}]},
        "closingMergeRequests": {"nodes": [{"mergeRequest": {"iid": "1", "title": "Fix"}}]},
    }
    emoji = shown["AWARD_EMOJI"]
    assert (emoji["upvotes"], emoji["downvotes"], emoji["awardEmoji"]["nodes"]) == (1, 0, [{"name": "thumbsup"}])
    assert api.put(project.url, owner, autoclose_referenced_issues=False).is_success
    assert _widgets(graphql, project, owner, "2")["DEVELOPMENT"]["willAutoCloseByMergeRequest"] is False
    query = "query($id: AwardableID!) { awardable(id: $id) { __typename awardEmoji { nodes { name } } } }"
    issue = api.get(f"{project.url}/issues/1", owner).json()["id"]
    for model in ("WorkItem", "Issue"):
        found = graphql.data(query, owner, id=f"gid://gitlab/{model}/{issue}")["awardable"]
        assert found["awardEmoji"]["nodes"] == [{"name": "thumbsup"}]
    for number, caller in ((issue, make.user()), (issue, None), (999_999_999, owner)):
        answer = graphql.answer(query, caller, id=f"gid://gitlab/WorkItem/{number}")
        assert (answer.get("data") or {}).get("awardable") is None
    assert graphql.answer(query, owner, id="gid://gitlab/Project/1").get("errors")


def test_order_of_discussions(graphql: Graphql, api: Api, project: Project, owner: User) -> None:
    query = """query($path: ID!, $first: Int, $last: Int, $after: String, $sort: WorkItemDiscussionsSort) {
        namespace(fullPath: $path) { workItem(iid: "1") { widgets(onlyTypes: [NOTES]) { ... on WorkItemWidgetNotes {
        discussions(first: $first, last: $last, after: $after, filter: ALL_NOTES, sort: $sort) {
        pageInfo { hasNextPage endCursor } nodes { notes { nodes { id body lastEditedAt } } } } } } } } }"""
    notes = [api.post(f"{project.url}/issues/1/notes", owner, body=str(n)).json()["id"] for n in range(5)]

    def bodies(**arguments: Any) -> tuple[list[str], dict[str, Any]]:
        found = graphql.data(query, owner, path=project.path, **arguments)["namespace"]["workItem"]["widgets"][0]
        page = found["discussions"]
        return [each["notes"]["nodes"][0]["body"] for each in page["nodes"]], page["pageInfo"]

    assert bodies(first=10)[0] == ["0", "1", "2", "3", "4"]
    assert bodies(first=10, sort="CREATED_DESC")[0] == ["4", "3", "2", "1", "0"]
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page, info = bodies(first=2, sort="CREATED_DESC", after=cursor)
        seen, cursor = [*seen, *page], info["endCursor"]
    assert (seen, info["hasNextPage"]) == (["4", "3", "2", "1", "0"], False)
    assert bodies(last=2, sort="CREATED_DESC")[0] == ["1", "0"]
    edited = "query($id: NoteID!) { note(id: $id) { lastEditedAt } }"
    note = f"gid://gitlab/Note/{notes[0]}"
    assert graphql.data(edited, owner, id=note)["note"]["lastEditedAt"] is None
    assert api.put(f"{project.url}/issues/1/notes/{notes[0]}", owner, body="changed").is_success
    assert graphql.data(edited, owner, id=note)["note"]["lastEditedAt"] is not None
