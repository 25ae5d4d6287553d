"""Changes of settings are recorded: who, when, from and to."""

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import make_group, make_project, statements_of

SETTINGS = "/application/settings"


def test_changes_of_instance_settings(api: Api, make: Make) -> None:
    assert api.put(SETTINGS, make.root, sign_in_text="Audited", max_attachment_size=77).status_code == 200
    events = api.get("/audit_events", make.root, entity_type="Gitlab::Audit::InstanceScope").json()
    changes = {event["details"]["change"]: event for event in events[:2]}
    assert changes.keys() == {"sign_in_text", "max_attachment_size"}
    event = changes["max_attachment_size"]
    assert (event["author_id"], event["entity_id"], event["event_name"]) == (1, 1, "max_attachment_size_updated")
    details = event["details"]
    assert (details["from"], details["to"], details["author_name"]) == ("100", "77", "Administrator")
    assert details["ip_address"] == "127.0.0.1"
    assert api.get(f"/audit_events/{event['id']}", make.root).json() == event

    assert api.put(SETTINGS, make.root, sign_in_text="Audited").status_code == 200
    assert api.get("/audit_events", make.root).json()[0]["id"] == events[0]["id"], "Nothing was changed."
    api.put(SETTINGS, make.root, sign_in_text="", max_attachment_size=100)


def test_changes_of_projects_and_groups(api: Api, make: Make) -> None:
    owner, developer = make.user(), make.user()
    group = make_group(make, owner, members={developer: Level.DEVELOPER})
    project = make_project(make, owner, group=group)
    api.put(project.url, owner, wiki_enabled=False, ci_separated_caches=False, description=None)
    api.post(f"{project.url}/archive", owner)
    api.put(group.url, owner, mentions_disabled=True)

    of_project = api.get(f"{project.url}/audit_events", owner).json()
    shown = [(each["details"]["change"], each["details"]["from"], each["details"]["to"]) for each in of_project]
    assert shown[0] == ("archived", "false", "true")
    assert sorted(shown[1:]) == [("ci_separated_caches", "true", "false"), ("wiki_access_level", "enabled", "disabled")]
    (of_group,) = api.get(f"{group.url}/audit_events", owner).json()
    assert of_group["details"]["change"] == "mentions_disabled"
    assert (of_group["entity_type"], of_group["entity_id"]) == ("Group", group.id)
    assert api.get(f"{group.url}/audit_events/{of_group['id']}", owner).json() == of_group
    assert api.get(f"{project.url}/audit_events/{of_group['id']}", owner).status_code == 404

    for url in (project.url, group.url):
        assert api.get(f"{url}/audit_events", developer).status_code == 403
        assert api.get(f"{url}/audit_events", owner, created_after="2100-01-01T00:00:00Z").json() == []
        assert len(api.get(f"{url}/audit_events", owner, created_before="2100-01-01T00:00:00Z").json()) >= 1
    assert api.get("/audit_events", make.root, entity_id=project.id).status_code == 400
    entity = {"entity_type": "Project", "entity_id": project.id}
    assert api.get("/audit_events", make.root, **entity).json() == of_project


def test_longer_pages_need_no_more_statements(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    api.put(project.url, owner, wiki_enabled=False, snippets_enabled=False, description="Other")

    def statements(per_page: int) -> int:
        return statements_of(make, lambda: api.get(f"{project.url}/audit_events", owner, per_page=per_page))

    assert len(api.get(f"{project.url}/audit_events", owner).json()) == 3
    assert statements(100) <= statements(1)
