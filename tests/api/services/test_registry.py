"""All services of the registry: set, read, list, edit and delete, without revealing secrets."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import bindparam, select

from ingot.integrations.registry import EVENTS, FLAGS, REGISTRY, Integration
from ingot.integrations.requests import REQUESTS
from ingot.integrations.tables import services
from ingot.webhooks.tables import hooks
from tests.api.services.conftest import SECRET, values_for
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project, statements_of
from tests.roles import UsersByRole, project_with

# The services of GitLab 9.4, by name.
OF_9_4 = {
    "asana", "assembla", "bamboo", "bugzilla", "buildkite", "campfire", "custom-issue-tracker", "drone-ci",
    "emails-on-push", "external-wiki", "flowdock", "gemnasium", "hipchat", "irker", "jira", "kubernetes",
    "mattermost-slash-commands", "slack-slash-commands", "pipelines-email", "pivotaltracker", "prometheus", "pushover",
    "redmine", "slack", "microsoft-teams", "mattermost", "teamcity", "mock-ci", "mock-deployment", "mock-monitoring",
}  # fmt: skip
UNSUPPORTED = {
    "flowdock", "gemnasium", "kubernetes", "mock-ci", "mock-deployment", "mock-monitoring", "prometheus",
}  # fmt: skip
each_service = pytest.mark.parametrize("integration", REGISTRY.values(), ids=REGISTRY)
_ROWS = [select(table).where(table.c.project_id == bindparam("project")) for table in (services, hooks)]
KEYS = {
    "id", "title", "slug", "created_at", "updated_at", "active", "inactive_reason", "inherited", "properties",
    "comment_on_event_enabled", *FLAGS
}  # fmt: skip


@pytest.fixture(scope="module")
def project(make: Make) -> Project:
    """Return a project for a sequence of services."""
    return make_project(make)


def rows_of(make: Make, project: Project) -> list[Any]:
    """Return all stored rows of the project's services."""
    return make.database.read(lambda db: [row for query in _ROWS for row in db.rows(query, project=project.id)])


def test_all_services_of_gitlab_9_4_exist() -> None:
    assert set(REGISTRY) == OF_9_4
    assert {each.slug for each in REGISTRY.values() if each.kind == "none"} == UNSUPPORTED
    assert {each.slug for each in REGISTRY.values() if each.kind == "request"} == set(REQUESTS)


@each_service
def test_life_cycle_of_a_service(api: Api, make: Make, project: Project, integration: Integration) -> None:
    url, sent = f"{project.url}/services/{integration.slug}", values_for(integration)
    shown = {name: value for name, value in sent.items() if name not in integration.secrets}
    before = api.get(url, make.root).json()
    assert set(before) == KEYS
    assert (before["id"], before["active"], before["properties"]) == (None, False, {})

    made = api.put(url, make.root, **sent, unheard_of="x")
    assert made.status_code == 200, made.text
    service = made.json()
    assert (service["slug"], service["properties"]) == (integration.slug, shown)
    is_supported = integration.slug not in UNSUPPORTED
    assert (service["active"], service["inactive_reason"] is None) == (is_supported, is_supported)
    assert [name for name in FLAGS if not service[name]] == ["confidential_issues_events", "confidential_note_events"]
    assert api.get(url, make.root).json() == service
    assert api.get(f"{project.url}/integrations/{integration.slug}", make.root).json() == service
    listed = api.get(f"{project.url}/services", make.root)
    del service["properties"]
    assert service in listed.json()
    assert listed.json() == api.get(f"{project.url}/integrations", make.root).json()
    assert SECRET not in made.text + listed.text
    assert rows_of(make, project)
    assert SECRET not in str(rows_of(make, project))

    assert [api.delete(url, make.root).status_code for _ in range(2)] == [200, 200]
    assert api.get(url, make.root).json() == before
    assert rows_of(make, project) == []


@each_service
def test_required_fields(api: Api, make: Make, project: Project, integration: Integration) -> None:
    url, needed = f"{project.url}/services/{integration.slug}", values_for(integration, required_only=True)
    for name in (each.name for each in integration.properties if each.required):
        without = {other: value for other, value in needed.items() if other != name}
        refused = api.put(url, make.root, **without)
        assert (refused.status_code, refused.json()) == (400, {"message": f'400 (Bad request) "{name}" not given'})
        for blank in ("", " "):
            refused = api.put(url, make.root, **{**needed, name: blank})
            assert (refused.status_code, name in refused.json()["message"]) == (400, True), refused.text
    assert api.get(url, make.root).json()["id"] is None


@each_service
def test_own_responses_are_accepted(api: Api, make: Make, project: Project, integration: Integration) -> None:
    url = f"{project.url}/integrations/{integration.slug}"
    made = api.put(url, make.root, **values_for(integration)).json()
    kept = api.put(url, make.root, **{**made, **made["properties"]})
    assert kept.status_code == 200, kept.text
    assert {**kept.json(), "updated_at": made["updated_at"]} == made
    assert api.delete(url, make.root).status_code == 200


@pytest.mark.parametrize("where", ["project", "group"])
def test_changes_are_audit_events(api: Api, make: Make, where: str) -> None:
    parent = make_project(make) if where == "project" else make_group(make)

    def changes() -> dict[str, tuple[str | None, str | None]]:
        events = api.get(f"{parent.url}/audit_events", make.root).json()
        details = [event["details"] for event in reversed(events)]
        return {each["change"]: (each["from"], each["to"]) for each in details}

    url = f"{parent.url}/integrations/pushover"
    api.put(url, make.root, api_key=SECRET, user_key=SECRET, priority="0", push_events=False)
    assert changes()["pushover active"] == ("false", "true")
    assert changes()["pushover priority"] == (None, "0")
    assert changes()["pushover api_key"] == (None, "[new secret]")
    assert "push_events" not in (changes()["pushover events"][1] or "").replace("tag_push_events", "")
    recorded = len(api.get(f"{parent.url}/audit_events", make.root).json())
    api.put(url, make.root, priority="0")
    assert len(api.get(f"{parent.url}/audit_events", make.root).json()) == recorded
    api.put(url, make.root, priority="1", api_key=f"{SECRET}-2")
    assert changes()["pushover priority"] == ("0", "1")
    assert changes()["pushover api_key"] == ("[secret]", "[new secret]")
    api.delete(url, make.root)
    assert changes()["pushover active"] == ("true", "false")
    assert changes()["pushover api_key"] == ("[secret]", None)
    assert SECRET not in api.get(f"{parent.url}/audit_events", make.root).text


@each_service
def test_flags_are_accepted_under_both_names(api: Api, make: Make, project: Project, integration: Integration) -> None:
    url, sent = f"{project.url}/integrations/{integration.slug}", values_for(integration, required_only=True)
    made = api.put(url, make.root, **sent, **{EVENTS[event]: False for event in integration.events}, active=False)
    assert made.status_code == 200, made.text
    assert made.json()["active"] is False
    assert [made.json()[EVENTS[event]] for event in integration.events] == [False] * len(integration.events)
    again = api.put(url, make.root, **sent, **{f"{event}_events": True for event in integration.events}).json()
    assert [again[EVENTS[event]] for event in integration.events] == [True] * len(integration.events)
    assert (again["id"], again["created_at"]) == (made.json()["id"], made.json()["created_at"])
    assert api.delete(url, make.root).status_code == 200


INVALID: list[tuple[str, dict[str, Any], str]] = [
    ("slack", {"webhook": "http://127.0.0.1/x"}, "webhook"),
    ("slack", {"webhook": "http://169.254.169.254/"}, "webhook"),
    ("mattermost", {"webhook": "ftp://example.com/x"}, "webhook"),
    ("slack", {"webhook": "https://user:word@example.com/x"}, "webhook"),
    ("slack", {"webhook": ["https://example.com"]}, "webhook"),
    ("slack", {"webhook": "https://example.com/" + "a" * 3000}, "webhook"),
    ("slack", {"push_events": "perhaps"}, "push_events"),
    ("slack", {"branches_to_be_notified": "protected"}, "branches_to_be_notified"),
    ("slack", {"username": "a\0b"}, "username"),
    ("jira", {"url": "javascript:alert(1)"}, "url"),
    ("redmine", {"issues_url": "data:text/html,:id"}, "issues_url"),
    ("redmine", {"project_url": "https://me:word@example.com/"}, "project_url"),
    ("redmine", {"description": "x" * 70_000}, "description"),
    ("irker", {"server_port": "many"}, "server_port"),
    ("irker", {"server_port": 2**70}, "server_port"),
    ("irker", {"server_port": 65536}, "server_port"),
    ("irker", {"server_host": "127.0.0.1"}, "server_host"),
    ("irker", {"server_host": ""}, "server_host"),
    ("jira", {"url": "http://127.0.0.1/jira"}, "url"),
    ("jira", {"api_url": "http://10.0.0.1/jira"}, "api_url"),
    ("irker", {"server_host": "gateway.example.com/x"}, "server_host"),
    ("irker", {"recipients": "#channel"}, "recipients"),
    ("microsoft-teams", {"webhook": "http://127.0.0.1/x"}, "webhook"),
    ("microsoft-teams", {"branches_to_be_notified": "protected"}, "branches_to_be_notified"),
    ("drone-ci", {"drone_url": "http://10.0.0.1"}, "drone_url"),
    ("bamboo", {"bamboo_url": "ftp://example.com"}, "bamboo_url"),
    ("hipchat", {"server": "localhost"}, "server"),
    ("campfire", {"subdomain": "evil.example.com/#"}, "subdomain"),
    ("assembla", {"subdomain": "../x"}, "subdomain"),
    ("pipelines-email", {"recipients": "nobody"}, "recipients"),
    ("emails-on-push", {"recipients": "nobody"}, "recipients"),
    ("emails-on-push", {"recipients": "a@example.com <b@example.com>"}, "recipients"),
    ("emails-on-push", {"recipients": " ".join(f"u{number}@example.com" for number in range(101))}, "recipients"),
]


@pytest.mark.parametrize(("slug", "wrong", "field"), INVALID)
def test_invalid_fields_are_named(
    api: Api, make: Make, project: Project, slug: str, wrong: dict[str, Any], field: str
) -> None:
    sent = {**values_for(REGISTRY[slug], required_only=True), **wrong}
    refused = api.put(f"{project.url}/services/{slug}", make.root, **sent)
    assert refused.status_code == 400, refused.text
    assert list(refused.json()["message"]) == [field]
    assert api.get(f"{project.url}/services/{slug}", make.root).json()["id"] is None


def test_unsent_fields_stay_and_empty_ones_are_cleared(api: Api, make: Make, project: Project) -> None:
    url, needed = f"{project.url}/services/slack", values_for(REGISTRY["slack"], required_only=True)
    api.put(url, make.root, **needed, username="Bot", channel="#ä🦊", push_channel="#p", note_events=False)
    changed = api.put(url, make.root, **needed, username=None, channel="").json()
    assert (changed["properties"], changed["note_events"]) == ({"push_channel": "#p"}, False)
    assert api.delete(url, make.root).status_code == 200


def test_a_longer_list_needs_no_more_statements(api: Api, make: Make) -> None:
    project = make_project(make)
    for path in ("/services", "/integrations"):
        for slug in ("flowdock", "campfire", "assembla"):
            assert api.put(f"{project.url}{path}/{slug}", make.root, token="x").status_code == 200
        costs = [statements_of(make, partial(api.get, f"{project.url}{path}", make.root, per_page=n)) for n in (1, 100)]
        assert costs[1] <= costs[0]


def test_changing_the_url_clears_the_secrets(api: Api, make: Make, project: Project) -> None:
    url = f"{project.url}/services/jira"
    stored = select(services.c.secrets).where(services.c.project_id == bindparam("project"))

    def password() -> str | None:
        sealed = make.database.read(lambda db: db.value(stored, project=project.id))
        return make.database.vault.unseal(sealed) if sealed else None

    api.put(url, make.root, url="https://jira.example.com", username="bot", password="word")
    assert password() == '{"password":"word"}'
    api.put(url, make.root, url="https://jira.example.com", project_key="KEY")
    assert password() == '{"password":"word"}'
    api.put(url, make.root, url="https://elsewhere.example.com")
    assert password() is None
    assert api.delete(url, make.root).status_code == 200


CALLERS = [("owner", 200), ("master", 200), ("developer", 403), ("guest", 403), ("stranger", 404), (None, 401)]


def test_services_are_managed_by_masters(api: Api, make: Make) -> None:
    roles = UsersByRole(make)
    project = project_with(make, roles, visibility="private")
    for role, status in CALLERS:
        caller = None if role is None else roles[role]
        answers = [
            api.get(f"{project.url}/services", caller),
            api.put(f"{project.url}/services/flowdock", caller, token="x"),
            api.get(f"{project.url}/services/flowdock", caller),
            api.delete(f"{project.url}/services/flowdock", caller),
            api.get(f"{project.url}/integrations", caller),
            api.put(f"{project.url}/integrations/flowdock", caller, token="x"),
            api.get(f"{project.url}/integrations/flowdock", caller),
            api.delete(f"{project.url}/integrations/flowdock", caller),
        ]
        assert [answer.status_code for answer in answers] == [status] * len(answers), role


def test_unknown_services_are_not_found_and_archived_projects_are_read_only(api: Api, make: Make) -> None:
    project = make_project(make)
    for slug in ("nothing", "Slack", "slack_slash_commands", "%2e%2e"):
        for method in ("GET", "PUT", "DELETE"):
            assert api.request(method, f"{project.url}/services/{slug}", make.root).status_code == 404
    assert api.post(f"{project.url}/archive", make.root).status_code == 201
    assert api.put(f"{project.url}/services/flowdock", make.root, token="x").status_code == 403
    assert api.get(f"{project.url}/services/flowdock", make.root).status_code == 200


def test_deleting_a_project_deletes_its_services(api: Api, make: Make, instance: Instance) -> None:
    project = make_project(make)
    assert api.put(f"{project.url}/services/slack", make.root, webhook="https://example.com/x").status_code == 200
    assert len(rows_of(make, project)) == 2
    assert api.delete(project.url, make.root).is_success
    instance.work()
    assert rows_of(make, project) == []


def test_the_documentation_lists_every_service() -> None:
    """Once each, with the correct support status."""
    page = (Path(__file__).parents[3] / "docs" / "services.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    named = [(slug, "Inactive" in row) for row in rows for slug in re.findall(r"`([a-z-]+)`", row.split(" | ")[0])]
    assert sorted(named) == sorted((each.slug, each.kind == "none") for each in REGISTRY.values())
