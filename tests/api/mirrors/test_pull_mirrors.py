"""Pull mirrors: projects that follow a repository on a second instance."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from ingot.core.db.times import add_duration
from ingot.core.outgoing.guard import SsrfGuard
from ingot.projects.projects.api import repository_store
from ingot.repositories.pull_mirrors.jobs import PullMirrorJobs
from ingot.repositories.pull_mirrors.queries import due_pull_mirrors
from ingot.repositories.pull_mirrors.service import INTERVAL_SECONDS, enqueue_due_pulls
from ingot.repositories.pull_mirrors.tables import pull_mirrors
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.roles import UsersByRole, project_with
from tests.second_instance import SecondInstance, serving

URL = "https://me:secret-of-the-mirror@git.example.com/group/copy.git"


def test_only_maintainers_configure_pull_mirrors(api: Api, make: Make, roles: UsersByRole, instance: Instance) -> None:
    """Attack: a mirror reveals its password, or reaches an address inside of the network."""
    project = project_with(make, roles)
    where = f"{project.url}/mirror/pull"
    assert api.get(where, roles.owner).json() == {"message": "The project is not mirrored"}
    statuses = {"owner": 200, "master": 200, "developer": 403, "stranger": 404, "nobody": 401}
    for role, status in statuses.items():
        caller = roles[role]
        assert api.put(where, caller, url=URL, enabled=True).status_code == status
        assert api.post(where, caller).status_code == status
        assert api.get(where, caller).status_code == status
    shown = api.get(where, roles.owner)
    assert shown.json()["url"] == "https://*****:*****@git.example.com/group/copy.git"
    for url in ("http://127.0.0.1/x.git", "file:///etc", "x", ""):
        answer = api.put(where, roles.owner, url=url)
        assert (answer.status_code, list(answer.json()["message"])) == (400, ["url"]), url
        assert api.put(project.url, roles.owner, mirror=True, import_url=url or "x").status_code == 400
    for option, value in (
        ("mirror_branch_regex", "("),
        ("mirror_branch_regex", "x" * 256),
        ("auth_password", "x" * 2001),
    ):
        answer = api.put(where, roles.owner, **{option: value})
        assert (answer.status_code, list(answer.json()["message"])) == (400, [option])
    refused = api.put(project.url, roles.owner, mirror_branch_regex="(")
    assert (refused.status_code, list(refused.json()["message"])) == (400, ["mirror_branch_regex"])
    assert api.post("/projects", roles.owner, name="x", mirror_branch_regex="(").status_code == 400
    assert api.put(where, roles.owner, auth_user="you", auth_password="secret-of-the-mirror").status_code == 200
    assert "secret-of-the-mirror" not in api.get(where, roles.owner).text
    rows = instance.app.database.read(lambda db: db.rows(select(pull_mirrors)))
    assert "secret-of-the-mirror" not in repr(rows)
    instance.app.database.write(lambda db: db.run(pull_mirrors.delete()))


class Pulling:
    """A project that follows one of a second instance."""

    def __init__(self, api: Api, make: Make, owner: User, instance: Instance, other: SecondInstance) -> None:
        self._api, self._owner, self._instance, self._other = api, owner, instance, other
        self.source = make_project(other.make, other.make.root)
        self.copy = make_project(make, owner)
        self.commit("master")
        made = api.put(self.copy.url, owner, mirror=True, import_url=URL)
        assert (made.status_code, made.json()["mirror"]) == (200, True), made.text
        assert made.json()["import_url"] == "https://git.example.com/group/copy.git"
        url = other.url.replace("://", f"://oauth2:{other.make.root.token}@") + f"/{self.source.path}.git"
        database = instance.app.database
        sealed = database.vault.seal(url)
        database.write(lambda db: db.run(pull_mirrors.update().values(sealed_url=sealed)))

    def commit(self, branch: str, content: str = "x") -> None:
        """Add a commit to a branch of the source."""
        self._commit(self._other.api, self.source, self._other.make.root, branch, content)

    def commit_to_copy(self, branch: str, content: str) -> None:
        """Add a commit to a branch of the copy."""
        self._commit(self._api, self.copy, self._owner, branch, content)

    def pull(self) -> dict[str, Any]:
        """Run the job; the test server itself refuses local addresses."""
        database = self._instance.app.database
        mirror_id = self._api.get(f"{self.copy.url}/mirror/pull", self._owner).json()["id"]
        work = PullMirrorJobs(repository_store(self._instance.settings), SsrfGuard(allow_local=True))
        work.run(database, {"mirror_id": mirror_id})
        return dict(self._api.get(f"{self.copy.url}/mirror/pull", self._owner).json())

    def refs(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the branches and tags of the source and of the copy."""
        here = self._refs(self._api, self.copy, self._owner)
        return self._refs(self._other.api, self.source, self._other.make.root), here

    @staticmethod
    def _commit(api: Api, project: Project, user: User, branch: str, content: str) -> None:
        action = {"action": "create", "file_path": f"{content}-{branch}", "content": content}
        sent = {"branch": branch, "commit_message": content, "actions": [action]}
        if branch != "master":
            sent["start_branch"] = "master"
        answer = api.post(f"{project.url}/repository/commits", user, **sent)
        assert answer.status_code == 201, answer.text

    @staticmethod
    def _refs(api: Api, project: Project, user: User) -> dict[str, str]:
        return {
            f"{kind}/{each['name']}": each["commit"]["id"]
            for kind in ("branches", "tags")
            for each in api.get(f"{project.url}/repository/{kind}", user).json()
        }


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the second instance."""
    data: Path = tmp_path_factory.mktemp("second")
    with serving(data) as second:
        yield second


def test_pull_mirrors_follow_branches_and_tags(api: Api, make: Make, instance: Instance, other: SecondInstance) -> None:
    owner = make.user()
    pulling = Pulling(api, make, owner, instance, other)
    first = pulling.pull()
    assert (first["update_status"], first["last_error"]) == ("finished", None)
    source, copy = pulling.refs()
    assert source == copy and len(copy) == 1
    assert api.get(pulling.copy.url, owner).json()["default_branch"] == "master"
    # New branches and tags, and a branch that matches no expression.
    pulling.commit("feature-1")
    pulling.commit("other")
    root = other.make.root
    other.api.post(f"{pulling.source.url}/repository/tags", root, tag_name="v1", ref="master")
    where = f"{pulling.copy.url}/mirror/pull"
    assert api.put(where, owner, mirror_branch_regex="^(feature-|master$)").status_code == 200
    assert pulling.pull()["last_error"] is None
    source, copy = pulling.refs()
    assert set(source) - set(copy) == {"branches/other"} and "tags/v1" in copy
    # A branch with commits of its own is kept, unless it may be overwritten.
    pulling.commit("master", "there")
    pulling.commit_to_copy("master", "here")
    kept = pulling.pull()
    assert (kept["update_status"], "diverged" in str(kept["last_error"])) == ("failed", True)
    api.delete(f"{pulling.copy.url}/protected_branches/master", owner)
    api.put(where, owner, mirror_overwrites_diverged_branches=True)
    assert pulling.pull()["last_error"] is None
    source, copy = pulling.refs()
    assert source["branches/master"] == copy["branches/master"]
    # Only protected branches, and the rights of the user still count.
    api.put(where, owner, only_mirror_protected_branches=True, mirror_branch_regex="")
    pulling.commit("feature-2")
    assert pulling.pull()["last_error"] is None
    assert "branches/feature-2" not in pulling.refs()[1]
    api.put(where, owner, only_mirror_protected_branches=False)
    api.post(f"{pulling.copy.url}/archive", owner)
    assert "archived" in str(pulling.pull()["last_error"])
    api.post(f"{pulling.copy.url}/unarchive", owner)
    # Due again after half an hour, and no longer when it is disabled.
    database = instance.app.database
    later = add_duration(database.clock(), seconds=2 * INTERVAL_SECONDS)
    assert len(database.read(lambda db: due_pull_mirrors(db, later))) == 1
    database.write(enqueue_due_pulls)
    assert api.put(pulling.copy.url, owner, mirror=False).json()["mirror"] is False
    assert api.post(where, owner).status_code == 400
    assert database.read(lambda db: due_pull_mirrors(db, later)) == []


def test_mirrored_changes_start_pipelines_if_the_mirror_allows_it(
    api: Api, make: Make, instance: Instance, other: SecondInstance
) -> None:
    owner = make.user()
    pulling = Pulling(api, make, owner, instance, other)
    action = {"action": "create", "file_path": ".gitlab-ci.yml", "content": "test: {script: ['true']}"}
    sent = {"branch": "master", "commit_message": "Add jobs", "actions": [action]}
    made = other.api.post(f"{pulling.source.url}/repository/commits", other.make.root, **sent)
    assert made.status_code == 201

    def pipelines() -> list[str]:
        assert pulling.pull()["last_error"] is None
        found = api.get(f"{pulling.copy.url}/pipelines", owner).json()
        return [each["sha"] for each in found if each["status"] != "skipped"]

    assert pipelines() == []
    assert api.put(pulling.copy.url, owner, mirror_trigger_builds=True).status_code == 200
    assert pipelines() == [], "Nothing has changed since."
    pulling.commit("master", "more")
    assert pipelines() == [pulling.refs()[0]["branches/master"]]
    assert api.put(pulling.copy.url, owner, mirror_trigger_builds=False).status_code == 200
    pulling.commit("master", "again")
    assert len(pipelines()) == 1


def test_pull_mirrors_over_ssh(api: Api, make: Make, instance: Instance) -> None:
    """The other server knows the key of the mirror; before that, and with another host key, nothing is fetched."""
    owner = make.user()
    source = make_project(make, owner, initialize_with_readme=True)
    copy = make_project(make, owner)
    where, url = f"{copy.url}/mirror/pull", "ssh://git@git.example.com/group/copy.git"
    made = api.put(where, owner, url=url, auth_method="ssh_public_key", enabled=True).json()
    assert (made["url"], made["auth_method"]) == (url, "ssh_public_key")
    assert made["public_key"].startswith("ssh-ed25519 ")
    assert api.put(where, owner, url=url, enabled=True).json()["public_key"] == made["public_key"]
    assert api.get(copy.url, owner).json()["import_url"] == url
    database = instance.app.database
    local = database.vault.seal(f"ssh://git@127.0.0.1:{instance.settings.ssh_port}/{source.path}.git")
    database.write(lambda db: db.update(pull_mirrors, made["id"], sealed_url=local))

    def pull() -> dict[str, Any]:
        work = PullMirrorJobs(repository_store(instance.settings), SsrfGuard(allow_local=True))
        work.run(database, {"mirror_id": made["id"]})
        return dict(api.get(where, owner).json())

    def known_hosts() -> str | None:
        query = select(pull_mirrors.c.known_hosts).where(pull_mirrors.c.id == made["id"])
        text: str | None = database.read(lambda db: db.value(query))
        return text

    def tips(project: Project) -> list[str]:
        return [each["commit"]["id"] for each in api.get(f"{project.url}/repository/branches", owner).json()]

    assert pull()["last_error"] == "The server does not accept the key of this mirror"
    assert api.post("/user/keys", owner, title="mirror", key=made["public_key"]).status_code == 201
    done = pull()
    assert (done["update_status"], done["last_error"]) == ("finished", None)
    assert tips(copy) == tips(source) != []
    assert str(known_hosts()).startswith("127.0.0.1 ")
    database.write(lambda db: db.update(pull_mirrors, made["id"], known_hosts=f"127.0.0.1 {made['public_key']}\n"))
    assert "host key" in str(pull()["last_error"])
    # A new URL gets another key pair and forgets the host keys.
    changed = api.put(where, owner, url="ssh://git@other.example.com/x.git").json()
    assert changed["public_key"].startswith("ssh-ed25519 ")
    assert changed["public_key"] != made["public_key"]
    assert known_hosts() is None
    for refused in ("ssh://git@127.0.0.1/x.git", "ssh://-oProxyCommand=x@a.example/x.git", "ssh://a:b@c.example/x.git"):
        answer = api.put(where, owner, url=refused)
        assert (answer.status_code, list(answer.json()["message"])) == (400, ["url"]), refused
    assert api.put(where, owner, url=URL, auth_method="ssh_public_key").status_code == 400
    plain = api.put(where, owner, url=URL).json()
    assert (plain["auth_method"], plain["public_key"], "secret" in plain["url"]) == ("password", None, False)
    database.write(lambda db: db.run(pull_mirrors.delete()))
