"""Deploy keys: permissions, visibility and deletion."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.factories import Project, ids, make_project, statements_of
from tests.roles import UsersByRole, project_with
from tests.ssh_public_keys import ed25519_line, rsa_line, sha256_of

CALLERS = [
    ("administrator", 200),
    ("owner", 200),
    ("master", 200),
    ("developer", 403),
    ("reporter", 403),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]
TAKEN = {"fingerprint": ["has already been taken"]}


def _add(api: Api, person: User, project: Project, line: str = "", **attributes: Any) -> dict[str, Any]:
    sent = {"title": "robot", "key": line or ed25519_line(), **attributes}
    added = api.post(f"/projects/{project.id}/deploy_keys", person, **sent)
    assert added.status_code == 201, added.text
    key: dict[str, Any] = added.json()
    return key


@pytest.mark.parametrize(("role", "status"), CALLERS)
def test_masters_manage_deploy_keys(api: Api, make: Make, roles: UsersByRole, role: str, status: int) -> None:
    project, other, caller = project_with(make, roles), project_with(make, roles), roles[role]
    where = f"/projects/{project.id}/deploy_keys"
    made = api.post(where, caller, title="mine", key=ed25519_line())
    assert made.status_code == (201 if status == 200 else status)
    key_id = _add(api, make.root, project)["id"]

    assert api.get(where, caller).status_code == status
    assert api.get(f"/projects/{project.id}/deploy_keys/{key_id}", caller).status_code == status
    edited = api.put(f"/projects/{project.id}/deploy_keys/{key_id}", caller, title="other", can_push=True)
    assert edited.status_code == status
    enabled = api.post(f"/projects/{other.id}/deploy_keys/{key_id}/enable", caller)
    assert enabled.status_code == (201 if status == 200 else status)
    assert api.delete(f"/projects/{project.id}/deploy_keys/{key_id}", caller).status_code == status
    shown = api.get(f"{where}/{key_id}", make.root)
    assert shown.status_code == (404 if status == 200 else 200)
    if status != 200:
        assert (shown.json()["title"], shown.json()["can_push"]) == ("robot", False)
        assert api.get(f"/projects/{other.id}/deploy_keys", make.root).json() == []


def test_deploy_keys_have_all_fields(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    line = rsa_line(2048)
    key = _add(
        api, roles.master, project, f"  {line} robot@ci \n", title=" CI ", can_push=True, expires_at="2099-01-02"
    )
    assert key == {
        "id": key["id"],
        "title": "CI",
        "key": f"{line} robot@ci",
        "fingerprint": key["fingerprint"],
        "fingerprint_sha256": sha256_of(line),
        "created_at": key["created_at"],
        "expires_at": "2099-01-02T00:00:00.000Z",
        "last_used_at": None,
        "can_push": True,
    }
    assert len(key["fingerprint"].split(":")) == 16
    assert api.get(f"/projects/{project.id}/deploy_keys", roles.master).json() == [key]
    assert api.get(f"/projects/{project.id}/deploy_keys/{key['id']}", roles.master).json() == key
    changed = api.put(f"/projects/{project.id}/deploy_keys/{key['id']}", roles.master, can_push=False).json()
    assert changed == {**key, "can_push": False}
    assert api.get(f"/keys/{key['id']}", make.root).json()["user"] is None


@pytest.mark.parametrize(("role", "status"), [("administrator", 200), ("owner", 403), ("nobody", 401)])
def test_only_administrators_list_all(api: Api, make: Make, roles: UsersByRole, role: str, status: int) -> None:
    """Keys of users are not among them; one that may push somewhere says so."""
    first, second = project_with(make, roles), project_with(make, roles)
    line = ed25519_line()
    key = _add(api, roles.owner, first, line)
    _add(api, roles.owner, second, line, can_push=True)
    own = api.post("/user/keys", roles.owner, title="mine", key=ed25519_line()).json()["id"]
    answer = api.get("/deploy_keys", roles[role], per_page=100, pagination="keyset", sort="desc")
    assert answer.status_code == status
    if status == 200:
        shown = {each["id"]: each for each in answer.json()}
        assert shown[key["id"]]["can_push"] is True
        assert own not in shown


def test_one_key_serves_several_projects(api: Api, make: Make, roles: UsersByRole) -> None:
    """Push permission is set per project; the title is shared."""
    first, second = project_with(make, roles), project_with(make, roles)
    line = ed25519_line()
    key = _add(api, roles.owner, first, line, can_push=True)
    again = _add(api, roles.owner, first, line, title="another", can_push=False)
    assert again == key
    joined = _add(api, roles.owner, second, line, title="another")
    assert joined == {**key, "can_push": False}
    api.put(f"/projects/{second.id}/deploy_keys/{key['id']}", roles.owner, title="both")
    assert api.get(f"/projects/{first.id}/deploy_keys/{key['id']}", roles.owner).json() == {**key, "title": "both"}

    for _ in range(2):
        gone = api.delete(f"/projects/{first.id}/deploy_keys/{key['id']}", roles.owner)
        assert (gone.status_code, gone.content) == (200, b"")
    assert api.get(f"/projects/{second.id}/deploy_keys/{key['id']}", roles.owner).status_code == 200
    assert api.delete(f"/projects/{second.id}/deploy_keys/{key['id']}", roles.owner).status_code == 200
    assert api.get(f"/keys/{key['id']}", make.root).status_code == 404
    assert api.post("/user/keys", roles.stranger, title="now mine", key=line).status_code == 201


def test_key_lookup_lists_its_projects(api: Api, make: Make, roles: UsersByRole) -> None:
    """Administrators find out by number or fingerprint where a deploy key is enabled; other keys have no projects."""
    first, second = project_with(make, roles), project_with(make, roles)
    line = ed25519_line()
    key = _add(api, roles.owner, first, line, can_push=True)
    _add(api, roles.owner, second, line)
    shown = api.get(f"/keys/{key['id']}", make.root).json()
    assert shown == api.get("/keys", make.root, fingerprint=sha256_of(line)).json()
    links = shown["deploy_keys_projects"]
    assert [(each["deploy_key_id"], each["project_id"], each["can_push"]) for each in links] == [
        (key["id"], first.id, True),
        (key["id"], second.id, False),
    ]
    assert links[0].keys() == {"id", "deploy_key_id", "project_id", "created_at", "can_push"}
    assert api.delete(f"/projects/{first.id}", make.root).status_code == 200
    left = api.get(f"/keys/{key['id']}", make.root).json()["deploy_keys_projects"]
    assert [each["project_id"] for each in left] == [second.id]
    own = api.post("/user/keys", roles.owner, title="mine", key=ed25519_line()).json()["id"]
    assert api.get(f"/keys/{own}", make.root).json()["deploy_keys_projects"] == []


def test_only_visible_keys_can_be_enabled(api: Api, make: Make, roles: UsersByRole) -> None:
    """Attack: find and enable keys of hidden projects by enumerating ids or by their public key."""
    hidden, own = make_project(make, roles.owner, visibility="private"), make_project(make, roles.stranger)
    line = ed25519_line()
    key_id = _add(api, roles.owner, hidden, line)["id"]
    users_key = api.post("/user/keys", roles.stranger, title="mine", key=ed25519_line()).json()["id"]
    for number in (key_id, users_key, 999_999_999):
        refused = api.post(f"/projects/{own.id}/deploy_keys/{number}/enable", roles.stranger)
        assert (refused.status_code, refused.json()) == (404, {"message": "404 Deploy Key Not Found"})
    taken = api.post(f"/projects/{own.id}/deploy_keys", roles.stranger, title="x", key=line)
    assert (taken.status_code, taken.json()["message"]) == (400, TAKEN)
    assert api.get(f"/projects/{own.id}/deploy_keys/{key_id}", roles.stranger).status_code == 404
    assert api.put(f"/projects/{own.id}/deploy_keys/{key_id}", roles.stranger, title="x").status_code == 404
    assert api.delete(f"/projects/{own.id}/deploy_keys/{key_id}", roles.stranger).status_code == 200
    assert api.get(f"/projects/{hidden.id}/deploy_keys/{key_id}", roles.owner).json()["title"] == "robot"

    added = {"user_id": roles.stranger.id, "access_level": 30}
    api.post(f"/projects/{hidden.id}/members", make.root, **added)
    assert api.post(f"/projects/{own.id}/deploy_keys/{key_id}/enable", roles.stranger).status_code == 404
    api.put(f"/projects/{hidden.id}/members/{roles.stranger.id}", make.root, access_level=40)
    for _ in range(2):
        enabled = api.post(f"/projects/{own.id}/deploy_keys/{key_id}/enable", roles.stranger)
        assert (enabled.status_code, enabled.json()["can_push"]) == (201, False)
    assert ids(api.get(f"/projects/{own.id}/deploy_keys", roles.stranger)) == [key_id]


def test_a_key_belongs_to_a_user_or_is_a_deploy_key(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    users_line, line = ed25519_line(), ed25519_line()
    assert api.post("/user/keys", roles.owner, title="mine", key=users_line).status_code == 201
    refused = api.post(f"/projects/{project.id}/deploy_keys", roles.owner, title="x", key=users_line)
    assert (refused.status_code, refused.json()["message"]) == (400, TAKEN)
    _add(api, roles.owner, project, line)
    refused = api.post("/user/keys", roles.owner, title="x", key=f"{line} with a comment")
    assert (refused.status_code, refused.json()["message"]) == (400, TAKEN)


def test_deleting_a_project_deletes_its_deploy_keys(api: Api, make: Make, roles: UsersByRole) -> None:
    """Keys that are enabled in another project are kept."""
    doomed, other = make_project(make, roles.owner), make_project(make, roles.owner)
    shared, lone = ed25519_line(), ed25519_line()
    kept = _add(api, roles.owner, doomed, shared)["id"]
    _add(api, roles.owner, other, shared)
    gone = _add(api, roles.owner, doomed, lone)["id"]
    assert api.delete(f"/projects/{doomed.id}", roles.owner).status_code == 200
    assert api.get(f"/keys/{kept}", make.root).status_code == 200
    assert api.get(f"/keys/{gone}", make.root).status_code == 404
    assert ids(api.get(f"/projects/{other.id}/deploy_keys", roles.owner)) == [kept]


REFUSED = [
    ({"title": "x"}, '400 (Bad request) "key" not given'),
    ({"key": "x"}, '400 (Bad request) "title" not given'),
    ({"title": "x", "key": "x"}, {"key": ["is invalid"]}),
    ({"title": " ", "key": ""}, {"title": ["can't be blank"], "key": ["can't be blank"]}),
    ({"title": "x" * 256, "key": "LINE"}, {"title": ["is too long (maximum is 255 characters)"]}),
    ({"title": "x", "key": "LINE", "can_push": "perhaps"}, {"can_push": ["is invalid"]}),
    ({"title": "x", "key": "LINE", "expires_at": "soon"}, {"expires_at": ["is invalid"]}),
    ({"title": "x", "key": 'command="sh" LINE'}, {"key": ["is invalid"]}),
    ({"title": "x", "key": "LINE\nLINE"}, {"key": ["should be a single line"]}),
    ({"title": "x\0", "key": "LINE"}, {"title": ["is invalid"]}),
    ({"title": ["x", {}], "key": {"a": 1}}, {"title": ["is invalid"], "key": ["is invalid"]}),
]


@pytest.mark.parametrize(("sent", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_invalid_deploy_keys_are_rejected(
    api: Api, make: Make, roles: UsersByRole, sent: dict[str, Any], message: object
) -> None:
    project = project_with(make, roles)
    if isinstance(sent.get("key"), str):
        sent = {**sent, "key": sent["key"].replace("LINE", ed25519_line())}
    answer = api.post(f"/projects/{project.id}/deploy_keys", roles.owner, **sent)
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert api.get(f"/projects/{project.id}/deploy_keys", roles.owner).json() == []


def test_an_edit_requires_a_valid_change(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/deploy_keys/{_add(api, roles.owner, project)['id']}"
    assert api.put(where, roles.owner).json()["message"] == '400 (Bad request) "title" not given'
    assert api.put(where, roles.owner, title=" ").json()["message"] == {"title": ["can't be blank"]}
    assert api.put(where, roles.owner, title="x" * 256).status_code == 400
    assert api.put(where, roles.owner, title="日本 🦊", can_push="on").json()["title"] == "日本 🦊"
    assert api.put(f"/projects/{project.id}/deploy_keys/none", roles.owner, title="x").status_code == 400
    assert api.put(f"/projects/{project.id}/deploy_keys/{10**20}", roles.owner, title="x").status_code == 400


def test_an_archived_project_is_read_only(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    key_id = _add(api, roles.owner, project)["id"]
    api.post(f"/projects/{project.id}/archive", roles.owner)
    where = f"/projects/{project.id}/deploy_keys"
    for caller in (roles.owner, make.root):
        assert api.get(f"{where}/{key_id}", caller).status_code == 200
        assert api.post(where, caller, title="x", key=ed25519_line()).status_code == 403
        assert api.put(f"{where}/{key_id}", caller, title="x").status_code == 403
        assert api.post(f"{where}/{key_id}/enable", caller).status_code == 403
        assert api.delete(f"{where}/{key_id}", caller).status_code == 403


def test_list_is_paginated_with_constant_statements(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    for _ in range(5):
        _add(api, roles.owner, project)

    def cost(where: str, caller: User, size: int) -> int:
        return statements_of(make, lambda: api.get(where, caller, per_page=size))

    for where, caller in ((f"/projects/{project.id}/deploy_keys", roles.owner), ("/deploy_keys", make.root)):
        assert int(api.get(where, caller, per_page=2).headers["x-total-pages"]) >= 3
        assert cost(where, caller, 100) <= cost(where, caller, 1)


def test_concurrent_creation_of_one_key(api: Api, make: Make, roles: UsersByRole) -> None:
    """Both requests succeed as if they had arrived one after the other."""
    first, second = project_with(make, roles), project_with(make, roles)
    for _ in range(5):
        line = ed25519_line()
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(partial(_add, api, roles.owner, line=line), [first, second] * 2))
        assert len({each["id"] for each in made}) == 1
        with ThreadPoolExecutor(4) as pool:
            where = [f"/projects/{place.id}/deploy_keys/{made[0]['id']}" for place in (first, second)]
            gone = list(pool.map(lambda path: api.delete(path, roles.owner).status_code, where * 2))
        assert gone == [200] * 4
        assert api.get(f"/keys/{made[0]['id']}", make.root).status_code == 404


def test_keys_of_the_instance_name_their_projects(api: Api, make: Make, roles: UsersByRole) -> None:
    writing, reading = project_with(make, roles), project_with(make, roles)
    key = _add(api, make.root, writing, can_push=True)
    assert api.post(f"{reading.url}/deploy_keys/{key['id']}/enable", make.root).status_code == 201
    (shown,) = [each for each in api.get("/deploy_keys", make.root, per_page=100).json() if each["id"] == key["id"]]
    for project, name in ((writing, "projects_with_write_access"), (reading, "projects_with_readonly_access")):
        read = api.get(project.url, make.root).json()
        fields = ("id", "description", "name", "path_with_namespace", "created_at")
        assert [{field: each[field] for field in fields} for each in shown[name]] == [
            {field: read[field] for field in fields}
        ]


def test_deploy_keys_of_common_projects(api: Api, make: Make) -> None:
    """A user shows the keys of the projects of which the caller is a master too; other projects stay hidden."""
    caller, user = make.user(), make.user()
    common = make_project(make, user, members={caller: 40})
    theirs, weaker = make_project(make, user), make_project(make, user, members={caller: 30})
    line = ed25519_line()
    shared = _add(api, user, common, line)
    _add(api, user, theirs, line, can_push=True)
    hidden = [_add(api, user, project)["id"] for project in (theirs, weaker)]
    own = _add(api, caller, make_project(make, caller))

    for name in (user.id, user.username):
        assert api.get(f"/users/{name}/project_deploy_keys", caller).json() == [shared]
    assert ids(api.get(f"/users/{caller.id}/project_deploy_keys", caller)) == [shared["id"], own["id"]]
    assert set(ids(api.get(f"/users/{user.id}/project_deploy_keys", user))) == {shared["id"], *hidden}
    for stranger in (make.user(), make.root):
        refused = api.get(f"/users/{user.id}/project_deploy_keys", stranger)
        assert refused.status_code == 403
        assert refused.json() == {"message": "403 Forbidden - No common authorized project found"}
    assert api.get("/users/999999999/project_deploy_keys", caller).status_code == 404
    assert api.get(f"/users/{user.id}/project_deploy_keys").status_code == 401
    assert api.delete(f"/projects/{common.id}", make.root).status_code == 200
    assert api.get(f"/users/{user.id}/project_deploy_keys", caller).status_code == 403
