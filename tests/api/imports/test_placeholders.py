"""Placeholder users: mapping by table and address, proposals, and the assignment to real users."""

from typing import Any

from tests.api.imports.conftest import ImportingInstance, SourceProject
from tests.client import User


def _group_with_owner(importing: ImportingInstance) -> tuple[User, str, int]:
    owner = importing.make.user()
    path = importing.make.name("group")
    group = importing.api.post("/groups", owner, name=path, path=path).json()
    return owner, path, group["id"]


def _import(importing: ImportingInstance, source: SourceProject, owner: User, group: str, **options: Any) -> int:
    run = importing.start(source.path, group, "imported", owner, **options)
    importing.work()
    entity = importing.entity(run, owner)
    assert entity["status"] == "finished", entity
    project_id: int = entity["project_id"]
    return project_id


def _placeholder(importing: ImportingInstance, user: User, username: str) -> dict[str, Any]:
    listed = importing.api.get("/placeholder_users", user, per_page=100).json()
    (found,) = (each for each in listed if each["source_username"] == username)
    chosen: dict[str, Any] = found
    return chosen


def test_a_placeholder_is_proposed_and_accepted(importing: ImportingInstance, source_project: SourceProject) -> None:
    """Until the user has accepted, content has the name of the source; then everything shows the real user."""
    owner, group, _ = _group_with_owner(importing)
    real, stranger = importing.make.user(), importing.make.user()
    mapping = {source_project.reviewer.username: real.username}
    project_id = _import(importing, source_project, owner, group, user_mapping=mapping)
    notes = f"/projects/{project_id}/issues/1/notes"
    comment = [note for note in importing.api.get(notes, owner).json() if not note["system"]][-1]
    assert comment["author"]["name"] == "Bob Reviewer"
    assert "_placeholder_" in comment["author"]["username"]

    found = _placeholder(importing, real, source_project.reviewer.username)
    assert (found["status"], found["reassign_to_user"]["id"]) == ("awaiting_approval", real.id)
    path = f"/placeholder_users/{found['id']}"
    refused = [importing.api.post(f"{path}/accept", who).status_code for who in (stranger, owner, None)]
    assert refused == [404, 403, 401]
    accepted = importing.api.post(f"{path}/accept", real)
    assert (accepted.status_code, accepted.json()["status"]) == (200, "completed")
    comments = [note for note in importing.api.get(notes, owner).json() if not note["system"]]
    assert comments[-1]["author"]["username"] == real.username
    assert importing.api.get("/users", importing.root, username=comment["author"]["username"]).json() == []
    assert importing.api.post(f"{path}/accept", real).status_code in (400, 403, 404)


def test_an_address_attributes_only_with_proof(importing: ImportingInstance, source_project: SourceProject) -> None:
    """Administrators map by address; for others the owner of the address claims the placeholder."""
    owner, group, group_id = _group_with_owner(importing)
    project_id = _import(importing, source_project, owner, group)
    listed = importing.api.get("/placeholder_users", owner, per_page=100).json()
    assert all(each["placeholder"] for each in listed if each["namespace_id"] == group_id)
    issue = importing.api.get(f"/projects/{project_id}/issues/1", owner).json()
    assert issue["author"]["name"] == "Alice Author"

    found = _placeholder(importing, owner, source_project.author.username)
    path = f"/placeholder_users/{found['id']}"
    assigned = importing.api.post(f"{path}/assign", owner, user_id=owner.id)
    assert (assigned.status_code, assigned.json()["placeholder"]) == (200, False)
    issue = importing.api.get(f"/projects/{project_id}/issues/1", owner).json()
    assert issue["author"]["id"] == owner.id


def test_table_of_placeholders(importing: ImportingInstance, source_project: SourceProject) -> None:
    """Owners download the table of a group, fill it and upload it."""
    owner, group, group_id = _group_with_owner(importing)
    real, guest = importing.make.user(), importing.make.user()
    _import(importing, source_project, owner, group)
    path = f"/groups/{group_id}/placeholder_reassignments"
    table = importing.api.get(path, owner)
    assert table.headers["content-type"].startswith("text/csv")
    assert importing.api.get(path, guest).status_code in (403, 404)
    name = source_project.reviewer.username
    filled = table.text.replace(f"{name},,", f"{name},{real.username},")
    assert filled != table.text
    sent = importing.api.request("POST", path, importing.root, files={"file": ("table.csv", filled.encode())})
    assert sent.status_code == 201, sent.text
    assert sent.json()["message"].startswith("1 placeholder")
    assert name not in importing.api.get(path, owner).text
    wrong = importing.api.request("POST", path, owner, files={"file": ("table.csv", b"\xff\xfe\x00")})
    assert wrong.status_code == 400
