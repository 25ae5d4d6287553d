"""Timelines of incidents."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.factories import Project, add_members, make_project, statements_of
from tests.graphql.conftest import Graphql
from tests.graphql.test_mutations import Mutations

EVENT = """timelineEvent { id note noteHtml action editable occurredAt author { username } updatedByUser { username }
    incident { iid } promotedFromNote { id } timelineEventTags { nodes { name } } }"""
LIST = f"""query($path: ID!, $incident: IssueID!) {{ project(fullPath: $path) {{
    incidentManagementTimelineEvents(incidentId: $incident) {{ nodes {EVENT.removeprefix("timelineEvent")} }} }} }}"""


@pytest.fixture(scope="module")
def people(make: Make) -> dict[str, User]:
    return {name: make.user() for name in ("owner", "developer", "reporter", "stranger")}


@pytest.fixture
def project(make: Make, people: dict[str, User]) -> Project:
    project = make_project(make, people["owner"])
    add_members(make, project, {people["developer"]: 30, people["reporter"]: 20})
    return project


def _incident(api: Api, user: User, project: Project, **sent: Any) -> tuple[str, str]:
    made = api.post(f"{project.url}/issues", user, **{"title": "Outage", "issue_type": "incident", **sent}).json()
    return f"gid://gitlab/Issue/{made['id']}", f"{project.url}/issues/{made['iid']}"


def _listed(graphql: Graphql, project: Project, user: User | None, incident: str) -> list[Any]:
    found = graphql.data(LIST, user, path=project.path, incident=incident)["project"]
    return list(found["incidentManagementTimelineEvents"]["nodes"])


def test_events_are_added_changed_and_deleted(
    graphql: Graphql, api: Api, project: Project, people: dict[str, User]
) -> None:
    incident, _ = _incident(api, people["owner"], project)
    run = Mutations(graphql, people["developer"])
    sent = {"incidentId": incident, "note": "It is **down**", "occurredAt": "2026-01-31T10:00:00Z"}
    tags = ["start time", "Impact detected"]
    later = run("timelineEventCreate", EVENT, **sent, timelineEventTagNames=tags)
    sent |= {"note": "Alarm", "occurredAt": "2026-01-31T09:00:00Z"}
    first = run("timelineEventCreate", EVENT, **sent)
    assert [each["name"] for each in later["timelineEventTags"]["nodes"]] == ["Start time", "Impact detected"]
    assert "<strong>down</strong>" in later["noteHtml"]
    assert (later["author"]["username"], later["updatedByUser"]) == (people["developer"].username, None)
    assert (later["editable"], later["incident"]["iid"], later["action"]) == (True, "1", "comment")
    assert [each["id"] for each in _listed(graphql, project, people["reporter"], incident)] == [
        first["id"],
        later["id"],
    ]
    run("timelineEventTagCreate", "timelineEventTag { name }", name="Rollback", projectPath=project.path)
    other = Mutations(graphql, people["owner"])
    edited = other("timelineEventUpdate", EVENT, id=first["id"], note="Alert", timelineEventTagNames=["rollback"])
    assert edited["note"] == "Alert"
    assert edited["occurredAt"] == first["occurredAt"]
    assert edited["updatedByUser"]["username"] == people["owner"].username
    assert edited["timelineEventTags"]["nodes"] == [{"name": "Rollback"}]
    query = """query($path: ID!, $incident: IssueID!, $id: IncidentManagementTimelineEventID!) {
        project(fullPath: $path) { incidentManagementTimelineEventTags { name }
        incidentManagementTimelineEvent(id: $id, incidentId: $incident) { note } } }"""
    found = graphql.data(query, people["owner"], path=project.path, incident=incident, id=first["id"])["project"]
    assert found["incidentManagementTimelineEvent"] == {"note": "Alert"}
    assert [tag["name"] for tag in found["incidentManagementTimelineEventTags"]] == [
        "Start time",
        "Impact detected",
        "Rollback",
    ]
    run("timelineEventDestroy", EVENT, id=first["id"])
    assert [each["id"] for each in _listed(graphql, project, people["owner"], incident)] == [later["id"]]


def test_a_comment_is_promoted(graphql: Graphql, api: Api, project: Project, people: dict[str, User]) -> None:
    incident, url = _incident(api, people["owner"], project)
    note = api.post(f"{url}/notes", people["reporter"], body="a" * 1000).json()
    run = Mutations(graphql, people["developer"])
    event = run("timelineEventPromoteFromNote", EVENT, noteId=f"gid://gitlab/Note/{note['id']}")
    assert (event["note"], event["occurredAt"]) == (note["body"], note["created_at"])
    assert event["promotedFromNote"] == {"id": f"gid://gitlab/Note/{note['id']}"}
    api.delete(f"{url}/notes/{note['id']}", people["owner"])
    (listed,) = _listed(graphql, project, people["owner"], incident)
    assert (listed["note"], listed["promotedFromNote"]) == (note["body"], None)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"note": " "}, "can't be blank"),
        ({"note": "a" * 281}, "is too long"),
        ({"occurredAt": "yesterday"}, "not a valid time"),
        ({"timelineEventTagNames": ["Unknown"]}, 'exist: ["Unknown"]'),
    ],
)
def test_invalid_events(
    graphql: Graphql, api: Api, project: Project, people: dict[str, User], sent: dict[str, Any], message: str
) -> None:
    incident, _ = _incident(api, people["owner"], project)
    values = {"incidentId": incident, "note": "x", "occurredAt": "2026-01-31T10:00:00Z", **sent}
    answer = _create(graphql, people["owner"], values)
    assert message in answer, answer
    assert _listed(graphql, project, people["owner"], incident) == []


def _create(graphql: Graphql, user: User | None, values: dict[str, Any]) -> str:
    query = "mutation($input: TimelineEventCreateInput!) { timelineEventCreate(input: $input) { errors } }"
    return str(graphql.answer(query, user, input=values))


def test_only_developers_change_timelines(
    graphql: Graphql, api: Api, project: Project, people: dict[str, User]
) -> None:
    incident, _ = _incident(api, people["owner"], project, confidential=True)
    issue, _ = _incident(api, people["owner"], project, issue_type="issue")
    values = {"incidentId": incident, "note": "x", "occurredAt": "2026-01-31T10:00:00Z"}
    event = Mutations(graphql, people["owner"])("timelineEventCreate", EVENT, **values)
    for name in ("reporter", "stranger"):
        for field, sent in (("Create", values), ("Destroy", {"id": event["id"]}), ("Update", {"id": event["id"]})):
            query = (
                f"mutation($input: TimelineEvent{field}Input!) {{ timelineEvent{field}(input: $input) {{ errors }} }}"
            )
            assert "permission" in str(graphql.answer(query, people[name], input=sent)), (name, field)
    assert "permission" in _create(graphql, None, values)
    assert not _listed(graphql, project, people["reporter"], incident)[0]["editable"]
    assert graphql.data(LIST, people["stranger"], path=project.path, incident=incident)["project"] is None
    assert "can only be added to incidents" in _create(graphql, people["owner"], {**values, "incidentId": issue})


def test_types_can_be_converted(api: Api, project: Project, people: dict[str, User]) -> None:
    owner = people["owner"]
    _, url = _incident(api, owner, project)
    incident = api.get(url, owner).json()
    task = {"title": "Task", "issue_type": "task", "parent_id": incident["id"]}
    assert api.post(f"{project.url}/issues", owner, **task).status_code == 201
    refused = api.put(url, owner, issue_type="task")
    assert refused.status_code == 400
    assert api.put(url, owner, issue_type="issue").json()["type"] == "ISSUE"
    assert api.put(url, owner, issue_type="incident").json()["type"] == "INCIDENT"
    listed = api.get(f"{project.url}/issues", owner, issue_type="incident").json()
    assert [each["iid"] for each in listed] == [1]


def test_severity_is_set_by_a_mutation(graphql: Graphql, api: Api, project: Project, people: dict[str, User]) -> None:
    _, url = _incident(api, people["owner"], project)
    iid = url.rpartition("/")[2]
    run = Mutations(graphql, people["reporter"])
    made = run("issueSetSeverity", "issue { severity }", projectPath=project.path, iid=iid, severity="HIGH")
    assert made == {"severity": "HIGH"}
    assert api.get(url, people["owner"]).json()["severity"] == "HIGH"


def test_promoted_comments_are_read_together(
    graphql: Graphql, make: Make, project: Project, people: dict[str, User]
) -> None:
    """Events take as many statements as one; a comment that the caller may not see is null."""
    incident, url = _incident(make.api, people["owner"], project)
    make.api.put(project.url, people["owner"], visibility="public")
    run = Mutations(graphql, people["developer"])
    query = """query($path: ID!, $incident: IssueID!) { project(fullPath: $path) {
        incidentManagementTimelineEvents(incidentId: $incident) { nodes { promotedFromNote { body } } } } }"""

    def promote(body: str, **sent: Any) -> None:
        note = make.api.post(f"{url}/notes", people["developer"], body=body, **sent).json()
        run("timelineEventPromoteFromNote", "timelineEvent { id }", noteId=f"gid://gitlab/Note/{note['id']}")

    def bodies(user: User) -> list[Any]:
        found = graphql.data(query, user, path=project.path, incident=incident)["project"]
        nodes = found["incidentManagementTimelineEvents"]["nodes"]
        return [node["promotedFromNote"] and node["promotedFromNote"]["body"] for node in nodes]

    def statements() -> int:
        sent = {"query": query, "variables": {"path": project.path, "incident": incident}}
        return statements_of(make, lambda: graphql.send(sent, people["reporter"]))

    promote("first")
    one = statements()
    for number in range(3):
        promote(f"more {number}")
    assert statements() == one
    promote("secret", internal=True)
    assert bodies(people["reporter"]) == ["first", "more 0", "more 1", "more 2", "secret"]
    assert bodies(people["stranger"]) == ["first", "more 0", "more 1", "more 2", None]
