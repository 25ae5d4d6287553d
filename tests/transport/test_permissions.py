"""Permissions to clone and push over HTTP and SSH, and error messages."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import update

from ingot.core.access.levels import Level
from ingot.projects.projects.tables import projects
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, make_project
from tests.git_history import History
from tests.roles import UsersByRole, project_with
from tests.transport.conftest import Tree, over_http, over_ssh
from tests.transport.wire import MISSING, Auth, advertised, auth_of, call_git, connected, key_of

NO_CODE = "You are not allowed to download code from this project."
NO_PUSH = "You are not allowed to push code to this project."
DENIED = "HTTP Basic: Access denied."
ROLES = ("nobody", "stranger", "outsider", "guest", "reporter", "developer", "master", "administrator")
Give = Callable[..., dict[str, str]]

# Visibility and role: responses to a clone and a push over HTTP; SSH has the same messages.
TABLE = {
    "private": {
        "nobody": (401, 401),
        "stranger": (404, 404),
        "outsider": (404, 404),
        "guest": (403, 403),
        "reporter": (200, 403),
    },
    "internal": {
        "nobody": (401, 401),
        "stranger": (200, 403),
        "outsider": (404, 404),
        "guest": (200, 403),
        "reporter": (200, 403),
    },
    "public": {
        "nobody": (200, 401),
        "stranger": (200, 403),
        "outsider": (200, 403),
        "guest": (200, 403),
        "reporter": (200, 403),
    },
}
MESSAGES = {401: DENIED, 404: MISSING}


@pytest.fixture(scope="module")
def roles(make: Make) -> UsersByRole:
    people = UsersByRole(make)
    people._people["outsider"] = make.user(external=True)
    return people


def projects_of(instance: Instance, make: Make, roles: UsersByRole) -> dict[str, Project]:
    """Create one of each visibility with a first commit."""
    made = {visibility: project_with(make, roles, visibility=visibility) for visibility in TABLE}
    for project in made.values():
        history = History()
        history.commit(files={"a": "a\n"})
        history.fill(instance, project)
    return made


def expected(visibility: str, role: str) -> tuple[int, int]:
    return TABLE[visibility].get(role, (200, 200))


def test_permissions_over_http(instance: Instance, make: Make, roles: UsersByRole) -> None:
    for visibility, project in projects_of(instance, make, roles).items():
        for role in ROLES:
            wanted = expected(visibility, role)
            for service, status in zip(("upload", "receive"), wanted, strict=True):
                answer = advertised(instance, f"{project.path}.git", service, auth_of(roles[role]))
                assert answer.status_code == status, (visibility, role, service, answer.text)
                sentence = MESSAGES.get(status, NO_CODE if service == "upload" else NO_PUSH)
                assert status == 200 or answer.text.startswith(sentence), (visibility, role, service)
                assert ("www-authenticate" in answer.headers) == (status == 401)
                body = call_git(
                    instance,
                    "POST",
                    f"/{project.path}.git/git-{service}-pack",
                    auth_of(roles[role]),
                    {"Content-Type": f"application/x-git-{service}-pack-request"},
                    content=b"0000",
                )
                assert body.status_code == status, "a direct POST is rejected like the advertisement"


def test_permissions_over_ssh(
    instance: Instance, make: Make, roles: UsersByRole, ssh_key: Give, tmp_path: Path
) -> None:
    made = projects_of(instance, make, roles)
    for role in ROLES[1:]:
        person = roles[role]
        assert person is not None
        with connected(instance, key_of(ssh_key(person)), tmp_path) as connection:
            for visibility, project in made.items():
                for service, status in zip(("upload", "receive"), expected(visibility, role), strict=True):
                    said = connection.run(f"git-{service}-pack '/{project.path}.git'", b"0000")
                    assert said.status == (0 if status == 200 else 128), (visibility, role, service, said.err)
                    sentence = MESSAGES.get(status, NO_CODE if service == "upload" else NO_PUSH)
                    assert said.err.strip() == ("" if status == 200 else sentence)
                    assert bool(said.out) == (status == 200)


def test_external_members(instance: Instance, make: Make, roles: UsersByRole) -> None:
    """Membership counts; internal projects are not visible to external users."""
    outsider = roles.outsider
    for level, status in ((Level.GUEST, 403), (Level.REPORTER, 200)):
        project = make_project(make, roles.owner, visibility="internal", members={outsider: level})
        assert advertised(instance, f"{project.path}.git", "upload", auth_of(outsider)).status_code == status


def test_hidden_projects_look_missing(
    instance: Instance, make: Make, roles: UsersByRole, ssh_key: Give, tmp_path: Path
) -> None:
    """Attack: tell a private project from a missing one by the response."""
    project = project_with(make, roles)
    paths = [f"{project.path}.git", f"{roles.owner.username}/never-{project.id}.git", "no-such-person/at-all.git"]

    def response(path: str, service: str, auth: Auth) -> tuple[int, bytes, dict[str, str]]:
        answer = advertised(instance, path, service, auth)
        volatile = ("x-request-id", "date")
        return answer.status_code, answer.content, {k: v for k, v in answer.headers.items() if k not in volatile}

    for auth in (None, auth_of(roles.stranger), auth_of(roles.outsider)):
        for service in ("upload", "receive"):
            first, *others = [response(path, service, auth) for path in paths]
            assert all(other == first for other in others)
    with connected(instance, key_of(ssh_key(roles.stranger)), tmp_path) as connection:
        for service in ("git-upload-pack", "git-receive-pack", "git-upload-archive"):
            said = [connection.run(f"{service} '{path}'") for path in paths]
            assert said[0].status == 128
            assert said == [said[0]] * len(paths)


@pytest.mark.parametrize("state", ["archived", "scheduled", "started"])
def test_read_only_projects(instance: Instance, api: Api, make: Make, tree: Tree, ssh_key: Give, state: str) -> None:
    """Archived projects, and projects during their import, can be read but not pushed to."""
    owner = make.user()
    project = make_project(make, owner)
    tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master")
    if state == "archived":
        assert api.post(f"/projects/{project.id}/archive", owner).status_code == 201
        words = "The project is archived, so it cannot be changed."
    else:
        row = update(projects).where(projects.c.id == project.id).values(import_status=state)
        instance.app.database.write(lambda db: db.run(row))
        words = "The project is being imported; push when that is done."
    tree.commit(content="two\n")
    for url, env in ((over_http(instance, project, owner), {}), (over_ssh(instance, project), ssh_key(owner))):
        assert "refs/heads/master" in tree.git("ls-remote", url, env=env)
        assert words in tree.git("push", url, "master", fails=True, env=env)


def test_members_through_shares_and_groups(instance: Instance, make: Make, roles: UsersByRole) -> None:
    """New members have access at once; administrators always do."""
    project = project_with(make, roles)
    person = make.user()
    path = f"{project.path}.git"
    assert advertised(instance, path, "receive", auth_of(person)).status_code == 404
    add_members(make, project, {person: Level.DEVELOPER})
    assert advertised(instance, path, "receive", auth_of(person)).status_code == 200
    root: User = make.root
    assert advertised(instance, path, "receive", auth_of(root)).status_code == 200
