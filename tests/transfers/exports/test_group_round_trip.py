"""Round trip of a group: the imported group equals the exported one, except for ids and addresses."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, add_members, make_group
from tests.transfers.exports.snapshots import comparable, differences
from tests.web.test_avatars import PNG

_LISTS = ("labels", "milestones", "badges", "boards", "hooks")
_OWN_NAMES = frozenset({"id", "web_url", "avatar_url", "full_path", "full_name", "name", "path", "parent_id"})


@pytest.fixture
def exported(make: Make) -> tuple[User, Group]:
    """Return a group with data of every kind and a subgroup, and its owner."""
    owner, reporter = make.user(), make.user()
    group = make_group(make, owner, description="A group")
    api, url = make.api, f"/groups/{group.id}"
    changed = {"request_access_enabled": True, "project_creation_level": "developer", "visibility": "public"}
    assert api.request("PUT", url, owner, data=changed, files={"avatar": ("it.png", PNG)}).status_code == 200
    add_members(make, group, {reporter: Level.REPORTER})
    label = api.post(f"{url}/labels", owner, name="bug", color="#ff0000", description="A bug").json()
    api.post(f"{url}/milestones", owner, title="1.0", description="First", due_date="2027-01-01")
    api.post(f"{url}/badges", owner, link_url="https://example.org", image_url="https://example.org/b.svg")
    api.post(f"{url}/hooks", owner, url="https://example.org/hook", issues_events=True, token="secret")
    board = api.post(f"{url}/boards", owner, name="Work").json()
    api.post(f"{url}/boards/{board['id']}/lists", owner, label_id=label["id"])
    assert api.post(f"{url}/wikis", owner, title="home", content="Welcome").status_code == 201
    below = api.post("/groups", owner, name="Below", path="below", parent_id=group.id)
    assert below.status_code == 201, below.text
    api.post(f"/groups/{below.json()['id']}/labels", owner, name="deep", color="#00ff00")
    return owner, group


def _archive(instance: Instance, api: Api, owner: User, group: Group) -> bytes:
    assert api.post(f"/groups/{group.id}/export", owner).status_code == 202
    instance.work()
    answer = api.get(f"/groups/{group.id}/export/download", owner)
    assert answer.status_code == 200, answer.text
    return answer.content


def _contents(api: Api, path: str, caller: User) -> dict[str, Any]:
    def read(name: str, part: str = "") -> Any:
        answer = api.get(f"/groups/{name.replace('/', '%2F')}{part}", caller, per_page=100)
        assert answer.status_code == 200, (name, part, answer.text)
        return answer

    attributes = read(path, "?with_projects=false").json()
    return {
        "attributes": {
            name: value
            for name, value in comparable(attributes, path).items()
            if name not in _OWN_NAMES and name not in ("created_at", "runners_token", "shared_with_groups")
        },
        "avatar": read(path, "/avatar").content,
        **{name: comparable(read(path, f"/{name}").json(), path) for name in _LISTS},
        # The importing user owns the new group, too.
        "members": [
            (each["username"], each["access_level"])
            for each in read(path, "/members").json()
            if each["username"] != caller.username
        ],
        "wiki": read(path, "/wikis?with_content=true").json(),
        "subgroups": [each["path"] for each in read(path, "/subgroups").json()],
        "labels below": comparable(read(f"{path}/below", "/labels").json(), path),
    }


def test_a_group_survives_export_and_import(instance: Instance, make: Make, exported: tuple[User, Group]) -> None:
    """An administrator imports the archive; everything but the secret of the webhook is there."""
    _, group = exported
    owner = make.root
    archive, path = _archive(instance, make.api, owner, group), make.name("imported")
    sent = {"data": {"name": path, "path": path}, "files": {"file": ("group.tar.gz", archive)}}
    started = make.api.request("POST", "/groups/import", owner, **sent)
    assert (started.status_code, started.json()["message"]) == (202, "202 Accepted"), started.text
    assert make.api.get(f"/groups/{path}", owner).json()["visibility"] == "public"
    instance.work()
    run = make.api.get(f"/bulk_imports/{started.json()['import_id']}", owner).json()
    assert run["status"] == "finished", run
    found = differences(_contents(make.api, group.path, owner), _contents(make.api, path, owner))
    assert found == []


def test_refused_group_archives(instance: Instance, make: Make, exported: tuple[User, Group]) -> None:
    """A taken path, a file that is no archive, a foreign parent, and users who may not create groups."""
    owner, group = exported
    archive = _archive(instance, make.api, owner, group)
    folder = instance.settings.data / "imports"
    before = set(folder.glob("*"))
    stranger, external = make.user(), make.user(external=True)
    cases: list[tuple[User | None, dict[str, Any], bytes, int]] = [
        (owner, {"name": "Taken", "path": group.path}, archive, 400),
        (owner, {"name": "None", "path": "no-archive"}, b"no archive", 400),
        (stranger, {"name": "Below", "path": "below-foreign", "parent_id": group.id}, archive, 403),
        (external, {"name": "External", "path": "of-external"}, archive, 403),
        (None, {"name": "Anonymous", "path": "of-nobody"}, archive, 401),
    ]
    for caller, fields, content, status in cases:
        files = {"file": ("group.tar.gz", content)}
        answer = make.api.request("POST", "/groups/import", caller, data=fields, files=files)
        assert answer.status_code == status, (fields, answer.text)
    assert set(folder.glob("*")) == before
