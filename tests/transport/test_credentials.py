"""Credentials for git: passwords, tokens of every kind and scope, deploy tokens."""

import base64
from collections.abc import Callable

import pytest
from sqlalchemy import delete

from ingot.accounts.instance.tables import throttles
from ingot.accounts.sessions.password_check import MAX_FAILURES
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, changed_settings, day, make_group, make_project
from tests.git_history import History
from tests.transport.conftest import Tree, over_http, over_ssh
from tests.transport.wire import Auth, advertised, auth_of, call_git

PASSWORD = "correct horse battery staple"
Answers = tuple[int, int]


@pytest.fixture
def project(instance: Instance, make: Make) -> Project:
    """Return a private project of a user with a password."""
    owner = make.user(password=PASSWORD)
    made = make_project(make, owner, visibility="private")
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, made)
    return made


def owner_id(api: Api, make: Make, project: Project) -> int:
    shown = api.get(f"/projects/{project.id}", make.root).json()
    owner: int = shown["owner"]["id"]
    return owner


def responses(instance: Instance, project: Project, auth: Auth) -> Answers:
    """Return the responses to a clone and a push."""
    path = f"{project.path}.git"
    return advertised(instance, path, "upload", auth).status_code, advertised(
        instance, path, "receive", auth
    ).status_code


# Access by the scopes of a token: clone, push.
SCOPES = [
    (("api",), (200, 200)),
    (("read_repository",), (200, 403)),
    (("write_repository",), (200, 200)),
    (("read_repository", "write_repository"), (200, 200)),
    (("read_user",), (403, 403)),
    (("read_api",), (403, 403)),
    (("read_user", "read_api"), (403, 403)),
]


@pytest.mark.parametrize(("scopes", "answers"), SCOPES)
def test_scopes(
    instance: Instance, api: Api, make: Make, project: Project, scopes: tuple[str, ...], answers: Answers
) -> None:
    """With any user name; also as user name, as bearer and in the API's header."""
    owner = owner_id(api, make, project)
    token = make.token(owner, *scopes)
    for auth in (
        ("anything", token),
        ("oauth2", token),
        ("", token),
        (token, ""),
        (token, "x-oauth-basic"),
        ("gitlab-ci-token", token),
    ):
        assert responses(instance, project, auth) == answers, auth
    for headers in ({"Authorization": f"Bearer {token}"}, {"PRIVATE-TOKEN": token}):
        for service, status in zip(("upload", "receive"), answers, strict=True):
            path = f"/{project.path}.git/info/refs?service=git-{service}-pack"
            assert call_git(instance, "GET", path, headers=headers).status_code == status
    if answers[1] == 403:
        refused = advertised(instance, f"{project.path}.git", "receive", ("me", token)).text
        assert refused.strip() == "This token cannot push: it lacks the scope write_repository or api."


def test_passwords_do_not_count_under_the_name_of_jobs(instance: Instance, make: Make, project: Project) -> None:
    """A job whose token has ended must not cause failed sign-ins."""
    make.user(username="gitlab-ci-token", password=PASSWORD)
    for secret in ("0123456789abcdef0123", PASSWORD):
        assert responses(instance, project, ("gitlab-ci-token", secret)) == (401, 401)


def test_scopes_do_not_reveal_hidden_projects(instance: Instance, make: Make, project: Project) -> None:
    """A token without repository scope does not reveal which projects exist."""
    stranger = make.user()
    token = make.token(stranger.id, "read_user")
    answers = {advertised(instance, path, "upload", ("me", token)).text for path in (f"{project.path}.git", "a/b.git")}
    assert len(answers) == 1


def test_revoked_and_expired_tokens(instance: Instance, api: Api, make: Make, project: Project) -> None:
    owner = owner_id(api, make, project)
    made = api.post(f"/users/{owner}/personal_access_tokens", make.root, name="t", scopes=["api"]).json()
    auth = ("me", made["token"])
    assert responses(instance, project, auth) == (200, 200)
    assert api.delete(f"/personal_access_tokens/{made['id']}", make.root).status_code in (200, 204)
    assert responses(instance, project, auth) == (401, 401)
    ending = ("me", make.token(owner, "api", expires_at="2030-01-01"))
    assert responses(instance, project, ending) == (200, 200)
    with day(instance, "2030-01-02"):
        assert responses(instance, project, ending) == (401, 401)


def test_impersonation_tokens(instance: Instance, api: Api, make: Make, project: Project) -> None:
    """They act as the user, within their scopes."""
    owner = owner_id(api, make, project)
    for scopes, answers in ((["api"], (200, 200)), (["read_user"], (403, 403))):
        made = api.post(f"/users/{owner}/impersonation_tokens", make.root, name="t", scopes=scopes)
        assert made.status_code == 201, made.text
        assert responses(instance, project, ("me", made.json()["token"])) == answers
        api.delete(f"/users/{owner}/impersonation_tokens/{made.json()['id']}", make.root)
        assert responses(instance, project, ("me", made.json()["token"])) == (401, 401)


def test_a_blocked_user(instance: Instance, api: Api, make: Make, project: Project) -> None:
    owner = owner_id(api, make, project)
    username = project.path.partition("/")[0]
    token = make.token(owner)
    assert responses(instance, project, (username, PASSWORD)) == (200, 200)
    assert api.post(f"/users/{owner}/block", make.root).status_code == 201
    assert responses(instance, project, (username, token)) == (401, 401)
    assert responses(instance, project, (username, PASSWORD)) == (401, 401)


def test_passwords(instance: Instance, make: Make, project: Project, tree: Tree) -> None:
    """By name or email address; wrong ones are rejected even for public projects."""
    username = project.path.partition("/")[0]
    for login in (username, username.upper(), f"{username}@example.org"):
        assert responses(instance, project, (login, PASSWORD)) == (200, 200)
    public = make_project(make, visibility="public")
    for auth in ((username, "wrong"), ("nobody-of-this-name", "wrong"), (username, "")):
        assert responses(instance, public, auth) == (401, 401)
    url = over_http(instance, project, None).replace("http://", f"http://{username}:{PASSWORD.replace(' ', '%20')}@")
    assert "HEAD" in tree.git("ls-remote", url)
    assert "Access denied" in tree.git("ls-remote", url.replace("horse", "cow"), fails=True)


def test_wrong_passwords_are_throttled(instance: Instance, api: Api, make: Make, project: Project) -> None:
    """Guessing is rate limited; tokens work meanwhile, and a correct one never counts as a failure."""
    username = project.path.partition("/")[0]
    token = make.token(owner_id(api, make, project))
    path = f"{project.path}.git"
    try:
        for _ in range(MAX_FAILURES):
            assert advertised(instance, path, "upload", (username, token)).status_code == 200
            assert advertised(instance, path, "upload", (username, "wrong")).status_code == 401
        waiting = advertised(instance, path, "upload", (username, PASSWORD))
        assert waiting.status_code == 429
        assert int(waiting.headers["retry-after"]) > 0
        assert "www-authenticate" not in waiting.headers
        assert advertised(instance, path, "upload", (username, token)).status_code == 200
    finally:
        instance.app.database.write(lambda db: db.run(delete(throttles)))


def test_expired_tokens_do_not_count_as_wrong_passwords(
    instance: Instance, api: Api, make: Make, project: Project
) -> None:
    """A machine that uses an expired token does not lock out its user."""
    username = project.path.partition("/")[0]
    owner = owner_id(api, make, project)
    made = api.post(f"/users/{owner}/personal_access_tokens", make.root, name="t", scopes=["api"]).json()
    api.delete(f"/personal_access_tokens/{made['id']}", make.root)
    for _ in range(MAX_FAILURES + 1):
        assert advertised(instance, f"{project.path}.git", "upload", (username, made["token"])).status_code == 401
    assert responses(instance, project, (username, PASSWORD)) == (200, 200)


MALFORMED = ["Basic", "Basic !!!", "Basic " + base64.b64encode(b"\xff\xfe:\xff").decode(), "Basic ÿ", "Bearer ÿ"]


@pytest.mark.parametrize("value", MALFORMED)
def test_malformed_credentials(instance: Instance, project: Project, value: str) -> None:
    """They cause no server error, and grant only anonymous access."""
    headers = {"Authorization": value.encode("latin-1")}
    answer = call_git(
        instance,
        "GET",
        f"/{project.path}.git/info/refs?service=git-upload-pack",
        headers=headers,  # type: ignore[arg-type] # Bytes are taken as they are.
    )
    assert answer.status_code == 401


@pytest.mark.parametrize("name", ["a\0b", "\0", "x" * 100_000, "é" * 50, "' OR 1=1 --", ":", ""])
def test_hostile_names_and_secrets(instance: Instance, project: Project, name: str) -> None:
    for auth in ((name, "secret"), ("name", name or "\0"), (name, name)):
        status = advertised(instance, f"{project.path}.git", "upload", auth).status_code
        assert status in (400, 401, 431), auth
    instance.app.database.write(lambda db: db.run(delete(throttles)))


def test_deploy_tokens(instance: Instance, api: Api, make: Make) -> None:
    """They read their project or group, with their own user name, and never write."""
    owner = make.user()
    group = make_group(make, owner, visibility="private")
    inside = make_project(make, owner, group=group, visibility="private")
    below = make_project(make, owner, group=make_group(make, owner, parent=group), visibility="private")
    elsewhere = make_project(make, owner, visibility="private")

    def create(where: str, *scopes: str, **more: str) -> tuple[str, str]:
        made = api.post(f"{where}/deploy_tokens", owner, name="t", scopes=list(scopes), **more)
        assert made.status_code == 201, made.text
        return made.json()["username"], made.json()["token"]

    of_project = create(inside.url, "read_repository")
    of_group = create(group.url, "read_repository")
    assert [responses(instance, each, of_project) for each in (inside, below, elsewhere)] == [
        (200, 403),
        (404, 404),
        (404, 404),
    ]
    assert [responses(instance, each, of_group) for each in (inside, below, elsewhere)] == [
        (200, 403),
        (200, 403),
        (404, 404),
    ]
    for wrong in (("another", of_project[1]), ("", of_project[1]), (of_project[1], ""), (owner.username, of_group[1])):
        assert responses(instance, inside, wrong) == (401, 401)
    for where in (inside.url, group.url):
        assert responses(instance, inside, create(where, "read_registry")) == (403, 403)
    ending = create(inside.url, "read_repository", expires_at="2030-01-01T00:00:00Z")
    assert responses(instance, inside, ending)[0] == 200
    with day(instance, "2030-02-01"):
        assert responses(instance, inside, ending) == (401, 401)
    listed = api.get(f"/projects/{inside.id}/deploy_tokens", owner).json()
    for token in listed:
        api.delete(f"/projects/{inside.id}/deploy_tokens/{token['id']}", owner)
    assert responses(instance, inside, of_project) == (401, 401)
    instance.app.database.write(lambda db: db.run(delete(throttles)))


def test_expired_and_removed_keys(
    instance: Instance, make: Make, tree: Tree, ssh_key: Callable[..., dict[str, str]], api: Api
) -> None:
    """They are rejected."""
    owner = make.user()
    project = make_project(make, owner)
    tree.env = ssh_key(owner)
    tree.git("ls-remote", over_ssh(instance, project))
    (key,) = api.get("/user/keys", owner).json()
    assert api.delete(f"/user/keys/{key['id']}", owner).status_code in (200, 204)
    tree.git("ls-remote", over_ssh(instance, project), fails=True)
    again = api.post("/user/keys", owner, title="again", key=key["key"], expires_at="2030-01-01T00:00:00Z")
    assert again.status_code == 201, again.text
    tree.git("ls-remote", over_ssh(instance, project))
    with day(instance, "2030-01-02"):
        tree.git("ls-remote", over_ssh(instance, project), fails=True)
    assert advertised(instance, f"{project.path}.git", "upload", auth_of(owner)).status_code == 200


def test_passwords_can_be_disabled_for_git(
    instance: Instance, api: Api, make: Make, project: Project, tree: Tree
) -> None:
    username = project.path.partition("/")[0]
    url = over_http(instance, project, None).replace("http://", f"http://{username}:{PASSWORD.replace(' ', '%20')}@")
    with changed_settings(make, password_authentication_enabled_for_git=False):
        assert "use a personal access token" in tree.git("ls-remote", url, fails=True)
        assert api.post("/session", login=username, password=PASSWORD).status_code == 201
    assert "HEAD" in tree.git("ls-remote", url)
