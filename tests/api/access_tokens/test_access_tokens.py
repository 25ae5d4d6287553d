"""Access tokens of projects and groups, and the bots that use them."""

from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from ingot.accounts.users.tables import users
from ingot.core.access.passwords import hash_password
from ingot.projects.access_tokens.service import RETENTION_DAYS, delete_ended_bots
from tests.api.users.gpg import gpg_key
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, day, ids, make_group, make_project, statements_of
from tests.roles import UsersByRole, group_with, project_with
from tests.ssh_public_keys import ed25519_line

PARAMS: dict[str, Any] = {"name": "robot", "scopes": ["api"]}
CALLERS = [
    # Role, status in a project, status in a group.
    ("administrator", 200, 200),
    ("owner", 200, 200),
    ("master", 200, 403),
    ("developer", 403, 403),
    ("guest", 403, 403),
    ("stranger", 404, 404),
    ("nobody", 401, 401),
]


def bot(made: dict[str, Any]) -> User:
    """Return the bot of a token as a caller."""
    return User(made["user_id"], "bot", "", made["token"])


def create(api: Api, caller: User, parent: Project | Group, **params: Any) -> dict[str, Any]:
    """Create a token."""
    made = api.post(f"{parent.url}/access_tokens", caller, **{**PARAMS, **params})
    assert made.status_code == 201, made.text
    return dict(made.json())


def test_maintainers_of_projects_and_owners_of_groups_manage_tokens(api: Api, make: Make, roles: UsersByRole) -> None:
    for parent, column in ((project_with(make, roles), 1), (group_with(make, roles), 2)):
        where = f"{parent.url}/access_tokens"
        for caller in CALLERS:
            person, status = roles[caller[0]], int(caller[column])
            token_id = create(api, make.root, parent)["id"]
            made = api.post(where, person, **PARAMS, access_level=20)
            assert made.status_code == (201 if status == 200 else status), caller
            assert api.get(where, person).status_code == status
            assert api.get(f"{where}/{token_id}", person).status_code == status
            # A token that does not exist looks like one that may not be read.
            missing = api.get(f"{where}/999999", person).status_code
            assert missing == (404 if status == 200 else status)
            rotated = api.post(f"{where}/{token_id}/rotate", person)
            assert rotated.status_code == status
            last = rotated.json()["id"] if status == 200 else token_id
            assert api.delete(f"{where}/{last}", person).status_code == status
            # A revoked token is gone.
            assert api.get(f"{where}/{last}", make.root).status_code == (404 if status == 200 else 200)


def test_view_of_a_token(api: Api, make: Make, roles: UsersByRole, instance: Instance) -> None:
    """Attack: the secret is in a list, in the log or in a copy of the database."""
    project = project_with(make, roles)
    made = create(api, roles.owner, project, expires_at="2099-01-31", access_level=30, description="Builds")
    secret = made["token"]
    assert made == {
        "id": made["id"],
        "name": "robot",
        "revoked": False,
        "created_at": made["created_at"],
        "description": "Builds",
        "scopes": ["api"],
        "user_id": made["user_id"],
        "last_used_at": None,
        "active": True,
        "expires_at": "2099-01-31",
        "access_level": 30,
        "resource_type": "project",
        "resource_id": project.id,
        "token": secret,
    }
    where = f"{project.url}/access_tokens"
    for path in (where, f"{where}/{made['id']}"):
        assert secret not in api.get(path, roles.owner).text
    rows = instance.app.database.read(lambda db: db.rows(text("SELECT * FROM access_tokens")))
    assert secret not in repr(rows) and secret not in instance.log.getvalue()
    user = api.get(f"/users/{made['user_id']}", make.root).json()
    assert (user["bot"], user["external"], user["name"]) == (True, True, "robot")
    assert user["username"].startswith(f"project_{project.id}_bot_")
    member = api.get(f"{project.url}/members/{made['user_id']}", roles.owner).json()
    assert (member["access_level"], member["expires_at"]) == (30, "2099-01-31")
    # Without a date, a token expires after a year.
    assert create(api, roles.owner, project)["expires_at"] is not None


def test_a_token_acts_with_its_level_in_its_project_only(api: Api, make: Make, roles: UsersByRole) -> None:
    """Attack: the token of a project reads or changes other projects and groups, even those of its creator."""
    group = group_with(make, roles)
    project = make_project(make, roles.owner, group=group, visibility="private")
    sibling = make_project(make, roles.owner, group=group, visibility="private")
    hidden = {
        "private": make_project(make, roles.owner, visibility="private"),
        "internal": make_project(make, roles.stranger, visibility="internal"),
    }
    public = make_project(make, roles.stranger, visibility="public")
    public_group = make_group(make, roles.stranger, visibility="public")
    reporter = bot(create(api, roles.owner, project, access_level=20))
    maintainer = bot(create(api, roles.owner, project))

    assert api.get(project.url, reporter).status_code == 200
    assert api.post(f"{project.url}/issues", reporter, title="Found").status_code == 201
    assert api.get(f"{project.url}/hooks", reporter).status_code == 403
    assert api.get(f"{project.url}/hooks", maintainer).status_code == 200
    for other in (sibling, *hidden.values()):
        assert api.get(other.url, maintainer).status_code == 404
    assert api.get(public.url, maintainer).status_code == 200
    for path, params in (
        (f"{public.url}/issues", {"title": "Spam"}),
        (f"{public.url}/star", {}),
        (f"{public.url}/fork", {}),
        (f"{public.url}/access_requests", {}),
        (f"{public_group.url}/access_requests", {}),
    ):
        assert api.post(path, maintainer, **params).status_code in (403, 404), path
    assert {each["id"] for each in api.get("/projects", maintainer, visibility="private").json()} == {project.id}
    assert api.post("/projects", maintainer, name="own").status_code in (400, 403)
    assert api.post("/groups", maintainer, name="own", path=make.name()).status_code == 403
    assert api.post(f"{sibling.url}/members", roles.owner, user_id=maintainer.id, access_level=30).status_code == 400
    refused = api.put(f"{project.url}/members/{reporter.id}", roles.owner, access_level=40)
    assert refused.status_code == 403


def test_a_group_token_covers_the_projects_and_subgroups_of_its_group(api: Api, make: Make, roles: UsersByRole) -> None:
    group = group_with(make, roles)
    below = make_group(make, roles.owner, parent=group, visibility="private")
    project = make_project(make, roles.owner, group=below, visibility="private")
    other = make_group(make, roles.owner, visibility="private")
    caller = bot(create(api, roles.owner, group, access_level=50))
    assert api.get(project.url, caller).status_code == 200
    assert api.get(below.url, caller).status_code == 200
    made = api.post("/projects", caller, name=make.name("project"), namespace_id=below.id)
    assert made.status_code == 201, made.text
    assert api.get(other.url, caller).status_code == 404
    assert api.post("/projects", caller, name=make.name("project"), namespace_id=other.id).status_code == 400
    narrower = bot(create(api, roles.owner, below))
    assert api.get(make_project(make, roles.owner, group=group, visibility="private").url, narrower).status_code == 404


def test_a_bot_gets_no_credential_that_outlasts_its_token(api: Api, make: Make, roles: UsersByRole) -> None:
    """Attack: a script with a token adds a key or another token, and keeps its access after the revocation."""
    project, group = project_with(make, roles), group_with(make, roles)
    for parent in (project, group):
        caller = bot(create(api, roles.owner, parent, access_level=40 if parent is project else 50))
        assert api.post("/user/keys", caller, title="k", key=ed25519_line()).status_code == 403
        assert api.post("/user/gpg_keys", caller, key=gpg_key()).status_code == 403
        assert api.post(f"{parent.url}/access_tokens", caller, **PARAMS).status_code == 403
        other = create(api, roles.owner, parent)["id"]
        assert api.post(f"{parent.url}/access_tokens/{other}/rotate", caller).status_code == 403
        assert api.delete(f"{parent.url}/access_tokens/{other}", caller).status_code == 403
        user = api.get("/user", caller).json()
        assert "private_token" not in user
        for kind in ("personal_access_tokens", "impersonation_tokens"):
            assert api.post(f"/users/{caller.id}/{kind}", make.root, **PARAMS).status_code == 403
        assert api.put(f"/users/{caller.id}", make.root, admin=True).status_code == 403
        assert api.put(f"/users/{caller.id}", make.root, password="a password of a bot").status_code == 403


def test_a_bot_has_no_email_address_and_cannot_sign_in(
    api: Api, make: Make, roles: UsersByRole, instance: Instance
) -> None:
    """Attack: a script with a token adds an address, has a link for a new password sent to it, and signs in."""
    caller = bot(create(api, roles.owner, project_with(make, roles)))
    own, password = f"{make.name()}@example.org", "a password of a bot"
    for path, sender in (("/user/emails", caller), (f"/users/{caller.id}/emails", make.root)):
        refused = api.post(path, sender, email=own)
        assert (refused.status_code, refused.json()["message"]) == (
            403,
            "403 Forbidden - Bot users cannot have email addresses",
        )
    assert api.get("/user/emails", caller).json() == []
    assert api.put(f"/users/{caller.id}", make.root, email=own).status_code == 403
    assert api.put(f"/users/{caller.id}", make.root, name="Renamed").status_code == 200

    # A bot with a password, which no request can set, is refused like a wrong password.
    hashed, username = hash_password(password), api.get("/user", caller).json()["username"]
    instance.app.database.write(lambda db: db.update(users, caller.id, password_hash=hashed))
    assert api.post("/session", login=username, password=password).status_code == 401


def test_a_bot_has_an_avatar_and_a_status_but_cannot_follow_users(api: Api, make: Make, roles: UsersByRole) -> None:
    caller = bot(create(api, roles.owner, project_with(make, roles)))
    assert api.post(f"/users/{roles.owner.id}/follow", caller).status_code == 403
    assert api.put("/user/status", caller, message="Busy").status_code == 200
    assert api.put("/user/avatar", caller, avatar="").status_code == 200


def test_a_token_is_no_more_powerful_than_its_creator(api: Api, make: Make, roles: UsersByRole) -> None:
    """Attack: a maintainer creates a token of an owner, or replaces one; a short token creates a long one."""
    project, group = project_with(make, roles), group_with(make, roles)
    where = f"{project.url}/access_tokens"
    answer = api.post(where, roles.master, **PARAMS, access_level=50)
    assert (answer.status_code, answer.json()["message"]) == (400, {"access_level": ["cannot be higher than your own"]})
    owners = create(api, roles.owner, project, access_level=50)
    assert api.post(f"{where}/{owners['id']}/rotate", roles.master).status_code == 403
    assert api.delete(f"{where}/{owners['id']}", roles.master).status_code == 403
    limited = roles.owner.with_token(make.token(roles.owner.id, "api", expires_at="2099-01-01"))
    assert api.post(where, limited, **PARAMS, expires_at="2099-01-02").status_code == 403
    assert create(api, limited, project)["expires_at"] <= "2099-01-01"
    reader = roles.owner.with_token(make.token(roles.owner.id, "read_api"))
    assert api.post(f"{group.url}/access_tokens", reader, **PARAMS).status_code == 403


REFUSED: list[tuple[dict[str, Any], object]] = [
    ({"scopes": ["api"]}, '400 (Bad request) "name" not given'),
    ({"name": "x"}, '400 (Bad request) "scopes" not given'),
    ({"name": " ", "scopes": ["api"]}, {"name": ["can't be blank"]}),
    ({"name": "x" * 256, "scopes": ["api"]}, {"name": ["is too long (maximum is 255 characters)"]}),
    ({"name": "x", "scopes": []}, {"scopes": ["can't be blank"]}),
    ({"name": "x", "scopes": ["sudo"]}, {"scopes": ["can only contain available scopes"]}),
    ({"name": "x", "scopes": 7}, {"scopes": ["can only contain available scopes"]}),
    ({**PARAMS, "access_level": 35}, {"access_level": ["is invalid"]}),
    ({**PARAMS, "access_level": "owner"}, {"access_level": ["is invalid"]}),
    ({**PARAMS, "expires_at": "soon"}, {"expires_at": ["is invalid"]}),
    ({**PARAMS, "expires_at": "2001-01-01"}, {"expires_at": ["cannot be a date in the past"]}),
    (
        {**PARAMS, "description": "x" * 1_001},
        {"description": ["is too long (maximum is 1000 characters)"]},
    ),
]


def test_invalid_tokens_are_rejected(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"{project.url}/access_tokens"
    for sent, message in REFUSED:
        answer = api.post(where, roles.owner, **sent)
        assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert api.get(where, roles.owner).json() == []
    assert api.get(where, roles.owner, sort="size").status_code == 400
    assert api.get(f"{where}/none", roles.owner).status_code == 400
    api.post(f"{project.url}/archive", roles.owner)
    assert api.post(where, roles.owner, **PARAMS).status_code == 403


def test_a_token_is_found_only_in_its_project(api: Api, make: Make, roles: UsersByRole) -> None:
    project, group = project_with(make, roles), group_with(make, roles)
    made = create(api, roles.owner, project)
    foreign = (make_project(make, roles.stranger), make_group(make, roles.stranger))
    for parent, caller in ((foreign[0], roles.stranger), (foreign[1], roles.stranger), (group, roles.owner)):
        where = f"{parent.url}/access_tokens/{made['id']}"
        assert api.get(where, caller).status_code == 404
        assert api.post(f"{where}/rotate", caller).status_code == 404
        assert api.delete(where, caller).status_code == 404
    assert api.get(project.url, bot(made)).status_code == 200
    own = api.get("/personal_access_tokens", roles.owner).json()
    assert f"{project.url}/access_tokens/{own[0]['id']}" and own[0]["id"] != made["id"]
    assert api.get(f"{project.url}/access_tokens/{own[0]['id']}", roles.owner).status_code == 404


@pytest.mark.parametrize("kind", ["projects", "groups"])
def test_rotation_and_revocation(api: Api, make: Make, roles: UsersByRole, instance: Instance, kind: str) -> None:
    parent = project_with(make, roles) if kind == "projects" else group_with(make, roles)
    where = f"{parent.url}/access_tokens"
    first = create(api, roles.owner, parent, access_level=30)
    own = api.get(f"{parent.url}/access_tokens/self", bot(first)).json()
    assert (own["id"], own["access_level"]) == (first["id"], 30)
    assert api.get(f"{parent.url}/access_tokens/self", roles.owner).status_code == 404
    assert api.get("/personal_access_tokens/self", bot(first)).json()["id"] == first["id"]

    past = api.post(f"{parent.url}/access_tokens/self/rotate", bot(first), expires_at="2001-01-01")
    assert (past.status_code, past.json()["message"]) == (400, {"expires_at": ["cannot be a date in the past"]})
    second = api.post(f"{parent.url}/access_tokens/self/rotate", bot(first), expires_at="2099-03-04").json()
    assert (second["user_id"], second["expires_at"]) == (first["user_id"], "2099-03-04")
    assert api.get(parent.url, bot(first)).status_code == 401
    second_id = second["id"]
    third = api.post(f"{parent.url}/access_tokens/{second_id}/rotate", roles.owner, expires_at="2099-05-06").json()
    assert api.get(f"{parent.url}/members/{third['user_id']}", roles.owner).json()["expires_at"] == "2099-05-06"
    assert api.post(f"{where}/{first['id']}/rotate", roles.owner).status_code == 400
    assert ids(api.get(where, roles.owner, state="active")) == [third["id"]]
    assert ids(api.get(where, roles.owner, revoked=True, sort="created_desc")) == [second["id"], first["id"]]
    assert ids(api.get(where, roles.owner, search="ROB", expires_after="2099-04-01")) == [third["id"]]

    for status in (200, 404):
        assert api.delete(f"{where}/{third['id']}", roles.owner).status_code == status
    assert api.get(f"{where}/{third['id']}", roles.owner).status_code == 404
    assert ids(api.get(where, roles.owner)) == []
    assert api.get(parent.url, bot(third)).status_code == 401
    assert api.get(f"/users/{third['user_id']}", make.root).json()["state"] == "blocked"
    assert len(api.get(where, roles.owner, state="inactive").json()) == 3

    with day(instance, "2098-01-01"):
        assert RETENTION_DAYS > 0
        instance.app.database.write(delete_ended_bots)
    assert api.get(f"/users/{third['user_id']}", make.root).status_code == 404
    assert api.get(where, roles.owner).json() == []


@pytest.mark.parametrize("kind", ["projects", "groups"])
def test_a_token_with_the_scope_self_rotate_rotates_itself(api: Api, make: Make, roles: UsersByRole, kind: str) -> None:
    """At the address of its project or group and at that of personal tokens, but no other token."""
    parent = project_with(make, roles) if kind == "projects" else group_with(make, roles)
    where = f"{parent.url}/access_tokens"
    first = create(api, roles.owner, parent, scopes=["self_rotate"])
    other = create(api, roles.owner, parent, scopes=["self_rotate"])
    second = api.post(f"{where}/self/rotate", bot(first))
    assert second.status_code == 200, second.text
    third = api.post("/personal_access_tokens/self/rotate", bot(second.json()), expires_at="2099-05-06")
    assert third.status_code == 200, third.text
    assert (third.json()["user_id"], third.json()["scopes"]) == (first["user_id"], ["self_rotate"])
    assert api.get(f"{parent.url}/members/{first['user_id']}", roles.owner).json()["expires_at"] == "2099-05-06"
    for path in (f"{where}/{other['id']}/rotate", f"/personal_access_tokens/{other['id']}/rotate"):
        assert api.post(path, bot(third.json())).status_code == 403
    assert api.get(parent.url, bot(third.json())).status_code == 403


def test_a_token_may_expire_today(api: Api, make: Make, roles: UsersByRole, instance: Instance) -> None:
    """As in GitLab it is created, and has expired since midnight."""
    for parent in (project_with(make, roles), group_with(make, roles)):
        with day(instance, "2090-01-02"):
            made = create(api, roles.owner, parent, expires_at="2090-01-02")
            assert (made["expires_at"], made["active"]) == ("2090-01-02", False)
            assert api.get("/user", bot(made)).status_code == 401
            early = {"name": "x", "scopes": ["api"], "expires_at": "2090-01-01"}
            assert api.post(f"{parent.url}/access_tokens", roles.owner, **early).status_code == 400


def test_expired_tokens_end_their_bots(api: Api, make: Make, roles: UsersByRole, instance: Instance) -> None:
    project = project_with(make, roles)
    made = create(api, roles.owner, project, expires_at="2090-01-02")
    with day(instance, "2090-01-02"):
        assert api.get(project.url, bot(made)).status_code == 401
        assert api.get(f"{project.url}/members/{made['user_id']}", make.root).status_code == 404
        instance.app.database.write(delete_ended_bots)
        assert api.get(f"/users/{made['user_id']}", make.root).json()["state"] == "blocked"


def test_tokens_are_removed_with_their_project_or_group(
    api: Api, make: Make, roles: UsersByRole, instance: Instance
) -> None:
    group = group_with(make, roles)
    project = make_project(make, roles.owner, group=group, visibility="private")
    made = [create(api, roles.owner, parent) for parent in (project, group)]
    assert api.delete(group.url, roles.owner).status_code == 200
    for each in made:
        assert api.get("/user", bot(each)).status_code == 401
    instance.work()
    instance.app.database.write(delete_ended_bots)
    for each in made:
        assert api.get(f"/users/{each['user_id']}", make.root).status_code == 404


def test_list_has_constant_statements(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    for _ in range(3):
        create(api, roles.owner, project)
    where = f"{project.url}/access_tokens"
    assert api.get(where, roles.owner, per_page=2).headers["x-total-pages"] == "2"
    few, many = (statements_of(make, partial(api.get, where, roles.owner, per_page=n)) for n in (1, 100))
    assert many <= few


def test_tokens_of_owners_create_subgroups(api: Api, make: Make, roles: UsersByRole) -> None:
    group = group_with(make, roles)
    owner = bot(create(api, roles.owner, group, access_level=50))
    path = make.name("child")
    made = api.post("/groups", owner, name=path, path=path, parent_id=group.id)
    assert made.status_code == 201, made.text
    assert api.post("/groups", owner, name="top", path=make.name("top")).status_code == 403
    developer = bot(create(api, roles.owner, group, access_level=30))
    assert api.post("/groups", developer, name="x", path="x", parent_id=group.id).status_code == 403


def test_impersonation_tokens_create_and_rotate_tokens(api: Api, make: Make, roles: UsersByRole) -> None:
    """The new token expires with the impersonation at the latest, and has no more scopes."""
    project = project_with(make, roles)
    path = f"/users/{roles.owner.id}/impersonation_tokens"
    sent = {"name": "support", "scopes": ["api"], "expires_at": "2099-01-01"}
    caller = roles.owner.with_token(api.post(path, make.root, **sent).json()["token"])
    made = create(api, caller, project, expires_at="2098-12-31")
    rotated = api.post(f"{project.url}/access_tokens/{made['id']}/rotate", caller)
    assert (rotated.status_code, rotated.json()["user_id"]) == (200, made["user_id"])
    later = api.post(f"{project.url}/access_tokens", caller, **PARAMS, expires_at="2099-01-02")
    assert later.status_code == 403
    assert api.post("/user/personal_access_tokens", caller, name="x", scopes=["k8s_proxy"]).status_code == 403


def test_removing_the_bot_from_the_members_revokes_its_token(api: Api, make: Make, roles: UsersByRole) -> None:
    for parent in (project_with(make, roles), group_with(make, roles)):
        made = create(api, roles.owner, parent)
        assert api.get("/user", bot(made)).status_code == 200
        assert api.delete(f"{parent.url}/members/{made['user_id']}", roles.owner).is_success
        assert api.get("/user", bot(made)).status_code == 401
        (shown,) = api.get(f"{parent.url}/access_tokens", roles.owner, revoked=True).json()
        assert (shown["id"], shown["revoked"], shown["active"]) == (made["id"], True, False)


def test_references_to_bots_are_marked(api: Api, make: Make) -> None:
    """As authors of issues, notes and merge requests, and in deployments and triggers; people have no mark."""
    project = make_project(make, initialize_with_readme=True)
    robot = bot(create(api, make.root, project, access_level=40))
    issue = api.post(f"{project.url}/issues", robot, title="From a bot").json()
    note = api.post(f"{project.url}/issues/{issue['iid']}/notes", robot, body="Hello").json()
    by_person = api.post(f"{project.url}/issues/{issue['iid']}/notes", make.root, body="Hello").json()
    api.post(f"{project.url}/repository/branches", robot, branch="work", ref="master")
    sent = {"source_branch": "work", "target_branch": "master", "title": "From a bot"}
    request = api.post(f"{project.url}/merge_requests", robot, **sent).json()
    assert [each["author"].get("bot") for each in (issue, note, request, by_person)] == [True, True, True, None]
    assert api.get(f"/users/{robot.id}", make.user()).json()["bot"] is True
    head = api.get(f"{project.url}/repository/commits/master", make.root).json()["id"]
    deployment = {"environment": "production", "sha": head, "ref": "master", "tag": False, "status": "success"}
    made = api.post(f"{project.url}/deployments", robot, **deployment)
    assert made.status_code == 201, made.text
    assert made.json()["user"]["bot"] is True
    trigger = api.post(f"{project.url}/triggers", robot, description="x").json()
    assert trigger["owner"]["bot"] is True
