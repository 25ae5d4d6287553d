"""Severity of incidents, and the quick actions of incidents."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, make_project, stopped_clock
from tests.graphql.conftest import Graphql


@pytest.fixture
def reporter(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(make: Make, reporter: User) -> Project:
    project = make_project(make)
    add_members(make, project, {reporter: 20})
    return project


def _issue(api: Api, project: Project, user: User, **sent: Any) -> tuple[dict[str, Any], str]:
    made = api.post(f"{project.url}/issues", user, **{"title": "Outage", "issue_type": "incident", **sent})
    assert made.status_code == 201, made.text
    return made.json(), f"{project.url}/issues/{made.json()['iid']}"


def _timeline(instance: Instance, user: User, issue: dict[str, Any], project: Project) -> list[dict[str, Any]]:
    query = """query($path: ID!, $incident: IssueID!) { project(fullPath: $path) {
        incidentManagementTimelineEvents(incidentId: $incident) { nodes { note action occurredAt } } } }"""
    graphql = Graphql(instance.url)
    found = graphql.data(query, user, path=project.path, incident=f"gid://gitlab/Issue/{issue['id']}")["project"]
    graphql.close()
    return list(found["incidentManagementTimelineEvents"]["nodes"])


def test_reporters_set_the_severity_of_incidents(
    instance: Instance, make: Make, project: Project, reporter: User
) -> None:
    api, stranger = make.api, make.user()
    issue, url = _issue(api, project, reporter)
    assert issue["severity"] == "UNKNOWN"
    assert api.put(url, reporter, severity="critical").json()["severity"] == "CRITICAL"
    assert api.get(f"{project.url}/issues", reporter).json()[0]["severity"] == "CRITICAL"
    notes = [note["body"] for note in api.get(f"{url}/notes", reporter).json() if note["system"]]
    assert notes == ["changed the severity to **Critical - S1**"]
    (event,) = _timeline(instance, reporter, issue, project)
    assert event["note"] == f"@{reporter.username} changed the incident severity to **Critical - S1**"
    assert event["action"] == "severity"
    assert api.put(url, reporter, severity="critical").status_code == 200
    assert len(_timeline(instance, reporter, issue, project)) == 1
    assert api.put(url, reporter, severity="worst").status_code == 400
    assert api.put(url, stranger, severity="low").status_code == 404
    # Only incidents have a severity; it comes back if the type does.
    assert api.put(url, reporter, issue_type="issue").json()["severity"] == "UNKNOWN"
    refused = api.put(url, reporter, severity="low")
    assert (refused.status_code, refused.json()["message"]) == (400, {"severity": ["can only be set on incidents"]})
    assert api.put(url, reporter, issue_type="incident").json()["severity"] == "CRITICAL"
    made, _ = _issue(api, project, reporter, severity="high")
    assert made["severity"] == "HIGH"
    plain = api.post(f"{project.url}/issues", reporter, title="x", severity="high")
    assert plain.status_code == 400
    api.put(project.url, make.root, visibility="public")
    by_stranger, its_url = _issue(api, project, stranger, severity="high")
    assert by_stranger["severity"] == "UNKNOWN"
    assert api.put(its_url, stranger, severity="high").json()["severity"] == "UNKNOWN"


@pytest.mark.parametrize(
    ("word", "severity"),
    [("S1", "CRITICAL"), ("2", "HIGH"), ("medium", "MEDIUM"), ("LOW", "LOW"), ("0", "UNKNOWN"), ("s9", "UNKNOWN")],
)
def test_severity_by_quick_action(make: Make, project: Project, reporter: User, word: str, severity: str) -> None:
    _, url = _issue(make.api, project, reporter)
    make.api.post(f"{url}/notes", reporter, body=f"/severity {word}")
    assert make.api.get(url, reporter).json()["severity"] == severity
    made, _ = _issue(make.api, project, reporter, description=f"It is down\n/severity {word}")
    assert (made["severity"], made["description"]) == (severity, "It is down")
    plain, its_url = _issue(make.api, project, reporter, issue_type="issue", description=f"/severity {word}")
    make.api.post(f"{its_url}/notes", reporter, body=f"/severity {word}")
    assert make.api.get(its_url, reporter).json()["severity"] == plain["severity"] == "UNKNOWN"


def test_timeline_by_quick_action(instance: Instance, make: Make, project: Project, reporter: User) -> None:
    api, developer = make.api, make.user()
    add_members(make, project, {developer: 30})
    issue, url = _issue(api, project, reporter)
    with stopped_clock(instance):
        now = instance.app.database.clock()
        commands = {
            "It is down": now,
            "Alarm | 2026-01-31 09:05": "2026-01-31T09:05:00.000Z",
            "Repaired | 9:30": f"{now[:10]}T09:30:00.000Z",
        }
        for text in commands:
            answer = api.post(f"{url}/notes", developer, body=f"/timeline {text}")
            assert "Timeline event added successfully." in answer.text
    wrong = ("Never | 2026-02-31 09:00", "Never | soon", "Never | 25:00", "| 09:00", "x" * 281)
    for text in wrong:
        api.post(f"{url}/notes", developer, body=f"/timeline {text}")
    api.post(f"{url}/notes", reporter, body="/timeline Reporters may not")
    events = {event["note"]: event["occurredAt"] for event in _timeline(instance, reporter, issue, project)}
    assert events == {text.partition(" |")[0]: moment for text, moment in commands.items()}
    _, plain = _issue(api, project, developer, issue_type="issue")
    api.post(f"{plain}/notes", developer, body="/timeline Only incidents have one")
    assert len(_timeline(instance, reporter, issue, project)) == 3
