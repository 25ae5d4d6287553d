"""Push mirrors: permissions, credentials, updates over HTTP, and loops between two projects."""

from functools import partial

import msgspec
from sqlalchemy import select

from ingot.core.jobs.tables import jobs
from ingot.core.outgoing.guard import SsrfGuard
from ingot.projects.projects.api import repository_store
from ingot.repositories.mirrors.jobs import MirrorJobs
from ingot.repositories.mirrors.queries import mirror_identity
from ingot.repositories.mirrors.service import UPDATE_MIRROR, enqueue_failed_updates
from ingot.repositories.mirrors.tables import remote_mirrors
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History
from tests.roles import UsersByRole, project_with

URL = "https://user:secret-of-the-mirror@git.example.com/group/copy.git"
CALLERS = [
    ("administrator", 200),
    ("owner", 200),
    ("master", 200),
    ("developer", 403),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]
_WAITING = select(jobs.c.payload).where(jobs.c.kind == UPDATE_MIRROR, jobs.c.state == "waiting")


def test_maintainers_manage_mirrors(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"{project.url}/remote_mirrors"
    for role, status in CALLERS:
        caller = roles[role]
        mirror_id = api.post(where, make.root, url=URL, enabled=True).json()["id"]
        made = api.post(where, caller, url=URL)
        assert made.status_code == (201 if status == 200 else status), role
        assert api.get(where, caller).status_code == status
        assert api.get(f"{project.url}/remote_mirrors/{mirror_id}", caller).status_code == status
        assert api.put(f"{where}/{mirror_id}", caller, keep_divergent_refs=True).status_code == status
        synced = api.post(f"{project.url}/remote_mirrors/{mirror_id}/sync", caller).status_code
        assert synced == (204 if status == 200 else status)
        assert api.delete(f"{where}/{mirror_id}", caller).status_code == status
        for each in api.get(where, make.root).json():
            api.delete(f"{where}/{each['id']}", make.root)
    disabled = api.post(where, make.root, url=URL).json()["id"]
    refused = api.post(f"{project.url}/remote_mirrors/{disabled}/sync", roles.owner)
    assert (refused.status_code, "mirror configuration" in refused.json()["message"]) == (400, True)
    other = make_project(make, roles.stranger)
    mirror_id = api.post(where, make.root, url=URL).json()["id"]
    assert api.get(f"{other.url}/remote_mirrors/{mirror_id}", roles.stranger).status_code == 404
    assert api.delete(f"{other.url}/remote_mirrors/{mirror_id}", roles.stranger).status_code == 200
    assert api.get(f"{where}/{mirror_id}", roles.owner).status_code == 200


def test_another_address_needs_the_password_again(api: Api, make: Make, roles: UsersByRole, instance: Instance) -> None:
    """Attack: a maintainer sends the password that another one entered to a server of their own."""
    project = project_with(make, roles)
    where = f"{project.url}/remote_mirrors"
    mirror_id = api.post(where, make.root, url=URL).json()["id"]

    def stored_url() -> str:
        statement = select(remote_mirrors.c.sealed_url).where(remote_mirrors.c.id == mirror_id)
        return instance.app.database.vault.unseal(instance.app.database.read(lambda db: db.value(statement)))

    api.put(f"{where}/{mirror_id}", roles.owner, keep_divergent_refs=True)
    assert stored_url() == URL
    other = "https://other.example.com/group/copy.git"
    assert api.put(f"{where}/{mirror_id}", roles.owner, url=other).json()["url"] == other
    assert stored_url() == other


def test_credentials_are_hidden_and_urls_are_checked(
    api: Api, make: Make, roles: UsersByRole, instance: Instance
) -> None:
    """Attack: a mirror reveals its password, or reaches an address inside of the network."""
    project = project_with(make, roles)
    where = f"{project.url}/remote_mirrors"
    made = api.post(where, roles.owner, url=URL)
    assert made.json()["url"] == "https://*****:*****@git.example.com/group/copy.git"
    assert (made.json()["enabled"], made.json()["update_status"]) == (False, "none")
    plain = "https://git.example.com/root/mirror.git"
    assert api.post(where, roles.owner, url=plain).json()["url"] == plain
    for answer in (made, api.get(where, roles.owner)):
        assert "secret-of-the-mirror" not in answer.text
    rows = instance.app.database.read(lambda db: db.rows(select(remote_mirrors)))
    assert "secret-of-the-mirror" not in repr(rows)
    for url in ("http://127.0.0.1/x.git", "file:///etc", "ssh://git@git.example.com/x.git", "x", "http://a.example/?q"):
        answer = api.post(where, roles.owner, url=url)
        assert (answer.status_code, list(answer.json()["message"])) == (400, ["url"]), url
    assert api.post(where, roles.owner).json()["message"] == '400 (Bad request) "url" not given'
    assert api.post(where, roles.owner, url=plain, enabled="perhaps").status_code == 400
    assert api.post(where, roles.owner, url=plain, auth_method="ssh_public_key").status_code == 400
    # An address that became local since is refused by the job, and recorded as an error.
    local = api.post(where, roles.owner, url=plain, enabled=True).json()["id"]
    sealed = instance.app.database.vault.seal("http://127.0.0.1:9/x.git")
    instance.app.database.write(lambda db: db.update(remote_mirrors, local, sealed_url=sealed))
    instance.work()
    failed = api.get(f"{where}/{local}", roles.owner).json()
    assert failed["update_status"] == "failed" and failed["last_error"]
    assert failed["last_successful_update_at"] is None


class Mirrored:
    """Two projects of an instance of which each mirrors the other."""

    def __init__(self, api: Api, make: Make, owner: User, instance: Instance) -> None:
        self._api = api
        self._owner = owner
        self.instance = instance
        self.source, self.target = make_project(make, owner), make_project(make, owner)

    def mirror(self, project: Project, other: Project, **params: object) -> int:
        """Create a mirror; its address is replaced, since the test server refuses local ones."""
        url = self.instance.url.replace("://", f"://oauth2:{self._owner.token}@") + f"/{other.path}.git"
        made = self._api.post(f"{project.url}/remote_mirrors", self._owner, url=URL, enabled=True, **params)
        database = self.instance.app.database
        sealed = database.vault.seal(url)
        database.write(lambda db: db.update(remote_mirrors, made.json()["id"], sealed_url=sealed))
        return int(made.json()["id"])

    def update(self, project: Project, mirror_id: int, *visited: str) -> dict[str, object]:
        """Run the job of a mirror."""
        work = MirrorJobs(repository_store(self.instance.settings), SsrfGuard(allow_local=True))
        work.update(self.instance.app.database, {"mirror_id": mirror_id, "visited": list(visited)})
        return dict(self._api.get(f"{project.url}/remote_mirrors/{mirror_id}", self._owner).json())

    def refs(self, project: Project) -> dict[str, str]:
        """Return the branches and tags."""
        listed = {}
        for kind in ("branches", "tags"):
            for each in self._api.get(f"{project.url}/repository/{kind}", self._owner).json():
                listed[f"{kind}/{each['name']}"] = each["commit"]["id"]
        return listed

    def commit(self, project: Project, branch: str = "master") -> None:
        """Change a file of a branch."""
        sent = {"branch": branch, "content": branch, "commit_message": "x", "actions": []}
        path = f"{project.url}/repository/files/file-{len(self.refs(project))}-{project.id}-{branch}"
        answer = self._api.post(path, self._owner, **sent)
        assert answer.status_code == 201, answer.text

    def waiting(self, mirror_id: int) -> list[list[str]]:
        """Return the paths of the waiting jobs of a mirror, and remove them."""
        database = self.instance.app.database
        found = [msgspec.json.decode(row[0]) for row in database.read(lambda db: db.rows(_WAITING))]
        database.write(lambda db: db.run(jobs.delete().where(jobs.c.kind == UPDATE_MIRROR)))
        return [each["visited"] for each in found if each["mirror_id"] == mirror_id]


def test_mirrors_follow_branches_and_tags(api: Api, make: Make, instance: Instance) -> None:
    pair = Mirrored(api, make, make.user(), instance)
    source, target, owner = pair.source, pair.target, pair._owner
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, source)
    api.post(f"{source.url}/repository/branches", owner, branch="topic", ref="master")
    api.post(f"{source.url}/repository/tags", owner, tag_name="v1", ref="master")
    api.delete(f"{target.url}/protected_branches/master", owner)
    mirror_id = pair.mirror(source, target)
    done = pair.update(source, mirror_id)
    assert (done["update_status"], done["last_error"]) == ("finished", None)
    assert done["last_successful_update_at"] is not None
    assert pair.refs(target) == pair.refs(source) and len(pair.refs(target)) == 3
    # A branch that was deleted after its merge is deleted there too.
    api.delete(f"{source.url}/repository/branches/topic", owner)
    api.delete(f"{target.url}/protected_branches/master", owner)
    pair.update(source, mirror_id)
    assert pair.refs(target) == pair.refs(source)
    # A branch that has diverged is overwritten, unless it is kept.
    api.put(f"{source.url}/remote_mirrors/{mirror_id}", owner, keep_divergent_refs=True)
    pair.commit(target)
    pair.commit(source)
    kept = pair.update(source, mirror_id)
    assert kept["update_status"] == "failed" and "diverged" in str(kept["last_error"])
    assert pair.refs(target) != pair.refs(source)
    api.put(f"{source.url}/remote_mirrors/{mirror_id}", owner, keep_divergent_refs=False)
    assert pair.update(source, mirror_id)["update_status"] == "finished"
    assert pair.refs(target) == pair.refs(source)
    # Only protected branches.
    api.put(f"{source.url}/remote_mirrors/{mirror_id}", owner, only_protected_branches=True)
    api.post(f"{source.url}/repository/branches", owner, branch="open", ref="master")
    pair.update(source, mirror_id)
    assert "branches/open" not in pair.refs(target)
    # The other project disappears.
    api.delete(target.url, owner)
    assert pair.update(source, mirror_id)["last_error"]
    assert instance.app.database.write(enqueue_failed_updates) >= 1
    pair.waiting(0)


def test_a_push_updates_mirrors_but_never_in_a_loop(api: Api, make: Make, instance: Instance) -> None:
    """Attack: two instances mirror each other and overwrite their branches forever."""
    pair = Mirrored(api, make, make.user(), instance)
    source, target, owner = pair.source, pair.target, pair._owner
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, source)
    forth, back = pair.mirror(source, target), pair.mirror(target, source)
    pair.waiting(0)
    read = instance.app.database.read
    names = [read(partial(mirror_identity, project_id=each.id)) for each in (source, target)]

    pair.commit(source)
    assert pair.waiting(forth) == [names[:1]]
    pair.update(source, forth, *names[:1])
    assert pair.waiting(back) == [names], "The other project forwards the change, with the path that it took."
    pair.update(target, back, *names)
    assert pair.waiting(forth) == []

    # Even if the branches differ again meanwhile, a change that came from here is not sent on.
    for project in (source, target):
        api.delete(f"{project.url}/protected_branches/master", owner)
    pair.commit(target)
    pair.waiting(0)
    pair.update(target, back, *names)
    assert pair.refs(source) == pair.refs(target)
    assert pair.waiting(forth) == []


def test_mirrors_over_ssh(api: Api, make: Make, instance: Instance) -> None:
    """The other server knows the key of the mirror; before that, and with another host key, nothing is sent."""
    pair = Mirrored(api, make, make.user(), instance)
    source, target, owner = pair.source, pair.target, pair._owner
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, source)
    api.delete(f"{target.url}/protected_branches/master", owner)
    where, url = f"{source.url}/remote_mirrors", "ssh://git@git.example.com/group/copy.git"
    made = api.post(where, owner, url=url, auth_method="ssh_public_key", enabled=True).json()
    assert (made["url"], made["auth_method"]) == (url, "ssh_public_key")
    key = api.get(f"{where}/{made['id']}/public_key", owner).json()["public_key"]
    assert key.startswith("ssh-ed25519 ")
    assert api.get(f"{where}/{made['id']}/public_key", make.user()).status_code == 404
    local = f"ssh://git@127.0.0.1:{instance.settings.ssh_port}/{target.path}.git"
    database = instance.app.database
    database.write(lambda db: db.update(remote_mirrors, made["id"], sealed_url=database.vault.seal(local)))

    assert pair.update(source, made["id"])["last_error"] == "The server does not accept the key of this mirror"
    added = api.post("/user/keys", owner, title="mirror", key=key)
    assert added.status_code == 201, added.text
    back = pair.mirror(target, source)
    pair.waiting(0)
    identity = database.read(partial(mirror_identity, project_id=source.id))
    done = pair.update(source, made["id"], identity)
    assert (done["update_status"], done["last_error"]) == ("finished", None)
    assert pair.refs(target) == pair.refs(source) != {}
    ((visited, _),) = pair.waiting(back)
    assert visited == identity, "The path of the change is sent over SSH too."
    # The host key is that of the first connection.
    (known,) = database.read(
        lambda db: db.rows(select(remote_mirrors.c.known_hosts).where(remote_mirrors.c.id == made["id"]))
    )[0]
    assert known.startswith("127.0.0.1 ")
    other = f"127.0.0.1 {key}\n"
    database.write(lambda db: db.update(remote_mirrors, made["id"], known_hosts=other))
    pair.commit(source)
    assert "host key" in str(pair.update(source, made["id"])["last_error"])
    # A new URL forgets the host keys and gets another key pair.
    api.put(f"{where}/{made['id']}", owner, url="ssh://git@other.example.com/x.git")
    assert api.get(f"{where}/{made['id']}/public_key", owner).json()["public_key"] != key
    assert (
        database.read(
            lambda db: db.rows(select(remote_mirrors.c.known_hosts).where(remote_mirrors.c.id == made["id"]))
        )[0][0]
        is None
    )
    changed = api.put(f"{where}/{made['id']}", owner, url=URL).json()
    assert (changed["auth_method"], "secret" in changed["url"]) == ("password", False)
    assert api.get(f"{where}/{back}/public_key", owner).status_code == 404
    pair.waiting(0)


def test_refused_urls_of_ssh(api: Api, make: Make, roles: UsersByRole) -> None:
    """Attack: options of ssh in a URL, local addresses, passwords."""
    where = f"{project_with(make, roles).url}/remote_mirrors"
    for url in (
        "ssh://-oProxyCommand=x@git.example.com/x.git",
        "ssh://git@-oProxyCommand=x/x.git",
        "ssh://git@git.example.com/x.git -oProxyCommand=x",
        "ssh://git:secret@git.example.com/x.git",
        "ssh://git.example.com/x.git",
        "ssh://git@127.0.0.1/x.git",
        "ssh://git@localhost/x.git",
        "ssh://git@git.example.com:70000/x.git",
        "ssh://git@git.example.com/$(x).git",
        "git@git.example.com:x.git",
    ):
        answer = api.post(where, roles.owner, url=url, auth_method="ssh_public_key")
        assert (answer.status_code, list(answer.json()["message"])) == (400, ["url"]), url
    assert api.post(where, roles.owner, url="ssh://git@a.example/x", auth_method="token").status_code == 400


def test_a_new_url_gets_a_new_key(api: Api, make: Make, instance: Instance) -> None:
    owner = make.user()
    where, url = f"{make_project(make, owner).url}/remote_mirrors", "ssh://git@git.example.com/group/copy.git"
    made = api.post(where, owner, url=url, auth_method="ssh_public_key").json()
    at = f"{where}/{made['id']}"

    def stored() -> tuple[str | None, str | None]:
        columns = select(remote_mirrors.c.public_key, remote_mirrors.c.known_hosts)
        ((key, known),) = instance.app.database.read(
            lambda db: db.rows(columns.where(remote_mirrors.c.id == made["id"]))
        )
        return key, known

    instance.app.database.write(lambda db: db.update(remote_mirrors, made["id"], known_hosts="git.example.com x\n"))
    key = stored()[0]
    assert api.put(at, owner, url=url, keep_divergent_refs=True).status_code == 200
    assert stored() == (key, "git.example.com x\n")
    assert api.put(at, owner, url="ssh://git@other.example.com/group/copy.git").status_code == 200
    new_key, known = stored()
    assert (key == new_key, str(new_key)[:12], known) == (False, "ssh-ed25519 ", None)
    assert api.put(at, owner, url="https://other.example.com/group/copy.git").status_code == 200
    assert stored() == (None, None)
