"""Import of a group with a subgroup and its projects."""

from tests.api.imports.conftest import ImportingInstance
from tests.client import Api, Make


def test_a_group_is_imported_with_its_projects(importing: ImportingInstance, api: Api, make: Make) -> None:
    """Subgroups, labels, members and projects; a repeated import adds nothing."""
    path = make.name("group")
    member = make.user(name="Group Member")
    group = api.post("/groups", make.root, name=path, path=path, visibility="private").json()
    below = api.post("/groups", make.root, name="below", path="below", parent_id=group["id"]).json()
    api.post(f"/groups/{group['id']}/members", make.root, user_id=member.id, access_level=30)
    api.post(f"/groups/{group['id']}/labels", make.root, name="shared", color="#00ff00")
    project = api.post("/projects", make.root, name="app", namespace_id=below["id"]).json()
    api.post(f"/projects/{project['id']}/issues", make.root, title="First", labels="shared")
    entity = {"source_type": "group_entity", "source_full_path": path, "destination_slug": f"{path}-new"}
    sent = {"configuration": importing.configuration(), "entities": [entity]}
    for _ in range(2):
        answer = importing.api.request("POST", "/bulk_imports", importing.root, json=sent)
        assert answer.status_code == 201, answer.text
        importing.work()
        entities = importing.api.get(f"/bulk_imports/{answer.json()['id']}/entities", importing.root).json()
        assert {(each["entity_type"], each["status"]) for each in entities} == {
            ("group", "finished"),
            ("project", "finished"),
        }, entities
    root = importing.root
    assert [each["full_path"] for each in importing.api.get(f"/groups/{path}-new/subgroups", root).json()] == [
        f"{path}-new/below"
    ]
    members = importing.api.get(f"/groups/{path}-new/members", root).json()
    assert "Group Member" in {each["name"] for each in members}
    (issue,) = importing.api.get(f"/projects/{path}-new%2Fbelow%2Fapp/issues", root).json()
    assert (issue["title"], issue["labels"]) == ("First", ["shared"])
