"""LFS transfers: complete, verified, counted, and separate per project."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.lfs.conftest import MEDIA_TYPE, LfsClient, object_of, oid_of
from tests.roles import UsersByRole, project_with


def _fresh(size: int = 1000) -> bytes:
    return secrets.token_bytes(size)


def _place(instance: Instance, content: bytes) -> Path:
    oid = oid_of(content)
    return instance.settings.data / "lfs" / oid[:2] / oid[2:4] / oid[4:]


def _counted(api: Api, person: User, project: Project) -> int:
    size: int = api.get(f"/projects/{project.id}", person, statistics=True).json()["statistics"]["lfs_objects_size"]
    return size


def test_upload_and_download(instance: Instance, api: Api, make: Make, lfs: LfsClient) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="private")
    content, empty = _fresh(3_000_001), b""
    asked = lfs.batch(project, owner, "upload", content, empty).json()
    assert (asked["transfer"], asked["hash_algo"]) == ("basic", "sha256")
    first = asked["objects"][0]
    base = f"{instance.url}/{project.path}.git"
    assert {name: first[name] for name in ("oid", "size", "authenticated")} == {
        **object_of(content),
        "authenticated": True,
    }
    assert first["actions"]["upload"]["href"] == f"{base}/gitlab-lfs/objects/{oid_of(content)}/{len(content)}"
    assert first["actions"]["verify"]["href"] == f"{base}/info/lfs/objects/verify"
    assert lfs.follow("POST", first["actions"]["verify"], json=object_of(content)).status_code == 404
    for each in (content, empty):
        lfs.upload(project, owner, each)
    assert _place(instance, content).read_bytes() == content
    assert list((instance.settings.data / "lfs" / "incoming").glob("*")) == []
    assert lfs.batch(project, owner, "upload", content).json()["objects"] == [object_of(content)]
    wrong = lfs.json(project, "info/lfs/objects/verify", owner, oid=oid_of(content), size=1)
    assert wrong.status_code == 422

    wanted = lfs.batch(project, owner, "download", content, empty, b"not there").json()["objects"]
    got = lfs.follow("GET", wanted[0]["actions"]["download"])
    assert (got.content, got.headers["content-type"]) == (content, "application/octet-stream")
    assert got.headers["x-content-type-options"] == "nosniff"
    assert lfs.follow("GET", wanted[1]["actions"]["download"]).content == b""
    assert "actions" not in wanted[2]
    assert wanted[2]["error"]["code"] == 404
    assert _counted(api, owner, project) == len(content)


def test_a_download_is_resumed(make: Make, lfs: LfsClient) -> None:
    owner = make.user()
    project = make_project(make, owner)
    content = _fresh(600_000)
    lfs.upload(project, owner, content)
    path = f"gitlab-lfs/objects/{oid_of(content)}"
    rest = lfs.call("GET", project, path, owner, headers={"Range": "bytes=500000-"})
    assert (rest.status_code, rest.content) == (206, content[500_000:])
    assert rest.headers["content-range"] == "bytes 500000-599999/600000"
    assert lfs.call("GET", project, path, owner, headers={"Range": "bytes=600000-"}).status_code == 416
    head = lfs.call("HEAD", project, path, owner)
    assert (head.status_code, head.headers["content-length"], head.content) == (200, "600000", b"")


INVALID = [
    (b"other bytes of the same length", None, 422),
    (b"short", None, 422),
    (b"the very bytes that were promised and more", None, 422),
]


@pytest.mark.parametrize(("sent", "size", "status"), INVALID, ids=["content", "short", "long"])
@pytest.mark.parametrize("streamed", [True, False])
def test_mismatching_uploads_are_rejected(
    instance: Instance, api: Api, make: Make, lfs: LfsClient, sent: bytes, size: int | None, status: int, streamed: bool
) -> None:
    """No file is left, and the project does not get the object."""
    owner = make.user()
    project = make_project(make, owner)
    promised = b"the very bytes that were said.."[: len(b"other bytes of the same length")]
    path = f"gitlab-lfs/objects/{oid_of(promised)}/{len(promised) if size is None else size}"
    answer = lfs.call("PUT", project, path, owner, content=iter([sent]) if streamed else sent)
    assert (answer.status_code, answer.headers["content-type"]) == (status, MEDIA_TYPE)
    assert set(answer.json()) == {"message", "documentation_url", "request_id"}
    assert lfs.get(project, owner, promised).status_code == 404
    assert not _place(instance, promised).exists()
    assert list((instance.settings.data / "lfs" / "incoming").glob("*")) == []
    assert _counted(api, owner, project) == 0


def test_a_digest_grants_no_access(instance: Instance, make: Make, lfs: LfsClient) -> None:
    """Attack: claim, by its digest, a file of a hidden project for another project."""
    owner, thief = make.user(), make.user()
    hidden, own = make_project(make, owner, visibility="private"), make_project(make, thief)
    content = _fresh()
    lfs.upload(hidden, owner, content)
    asked = lfs.batch(own, thief, "upload", content).json()["objects"][0]
    assert "upload" in asked["actions"]
    assert lfs.follow("POST", asked["actions"]["verify"], json=object_of(content)).status_code == 404
    for guess in (b"", b"x" * len(content)):
        assert lfs.follow("PUT", asked["actions"]["upload"], content=guess).status_code == 422
    assert lfs.batch(own, thief, "download", content).json()["objects"][0]["error"]["code"] == 404
    assert lfs.get(own, thief, content).status_code == 404
    assert lfs.get(hidden, thief, content).status_code == 404
    assert lfs.get(hidden, owner, content).content == content
    lfs.upload(own, thief, content)
    assert lfs.get(own, thief, content).content == content


HOSTILE = [
    "../../x",
    "..%2f..%2fx",
    "%2e%2e/%2e%2e/x",
    "A" * 64,
    "a" * 63,
    "a" * 65,
    "a" * 64 + "%00",
    "a" * 64 + "%0a",
    "%ff" * 32,
    "-",
]


@pytest.mark.parametrize("oid", HOSTILE)
def test_no_oid_leaves_the_store(instance: Instance, make: Make, lfs: LfsClient, oid: str) -> None:
    """Attack: an oid that points outside of the store."""
    owner = make.user()
    project = make_project(make, owner)
    kept = instance.settings.data / "lfs"
    before = sorted(kept.rglob("*"))
    auth = (owner.username, owner.token)
    target = f"/{project.path}.git/gitlab-lfs/objects/{oid}".encode()
    # Sent unchanged: other clients would normalize the path.
    assert lfs.client.get(instance.url, auth=auth, extensions={"target": target}).status_code == 400
    put = lfs.client.put(instance.url, auth=auth, content=b"abc", extensions={"target": target + b"/3"})
    assert put.status_code == 400
    for name in (oid, unquote(oid, "latin-1")):
        for operation in ("upload", "download"):
            objects = [{"oid": name, "size": 3}]
            answer = lfs.json(project, "info/lfs/objects/batch", owner, operation=operation, objects=objects)
            assert answer.status_code == 400
    assert sorted(kept.rglob("*")) == before


INVALID_BATCHES = [
    b"",
    b"{}",
    b"[]",
    b"{",
    b'{"operation": "upload"}',
    b'{"operation": "remove", "objects": []}',
    b'{"operation": "upload", "objects": {}}',
    b'{"operation": "upload", "objects": [{"oid": 7, "size": 1}]}',
    b'{"operation": "upload", "objects": [{"oid": "' + b"a" * 64 + b'", "size": -1}]}',
    b'{"operation": "upload", "objects": [{"oid": "' + b"a" * 64 + b'", "size": 99999999999999999999}]}',
    b'{"operation": "upload", "objects": [{"oid": "' + b"a" * 64 + b'", "size": "1"}]}',
    b'{"operation": "upload", "objects": ' + b"[" * 100_000,
    b'{"operation": "upload", "objects": ["\xff"]}',
]


MESSAGES = ("The body is not JSON.", "A field of the body is missing or has the wrong type.")


@pytest.mark.parametrize("body", INVALID_BATCHES, ids=lambda body: body[:50].decode("latin-1"))
def test_invalid_batches_are_rejected(make: Make, lfs: LfsClient, body: bytes) -> None:
    project = make_project(make)
    answer = lfs.call("POST", project, "info/lfs/objects/batch", make.root, content=body)
    assert (answer.status_code, answer.headers["content-type"]) == (400, MEDIA_TYPE)
    assert answer.json()["message"] in MESSAGES


def test_too_large_and_unsupported_batches_are_rejected(make: Make, lfs: LfsClient) -> None:
    project = make_project(make)
    one = {"oid": "a" * 64, "size": 1}

    def request(**sent: object) -> int:
        return lfs.json(project, "info/lfs/objects/batch", make.root, operation="upload", **sent).status_code

    assert request(objects=[]) == 200
    assert request(objects=[one], ref=None, transfers=None) == 200
    assert request(objects=[one] * 5001) == 413
    assert request(objects=[one], transfers=["tus"]) == 422
    assert request(objects=[one], hash_algo="sha512") == 409
    assert lfs.call("POST", project, "info/lfs/objects/batch", make.root, content=b" " * 5 * 2**20).status_code == 413
    for path in ("info/lfs/objects", f"info/lfs/objects/{'a' * 64}", "info/lfs/objects/batch/more"):
        assert lfs.call("POST", project, path, make.root).status_code == 501
    for method, path in (("GET", "info/lfs/objects/batch"), ("POST", f"gitlab-lfs/objects/{'a' * 64}")):
        refused = lfs.call(method, project, path, make.root)
        assert (refused.status_code, "allow" in refused.headers) == (405, True)
    for size in ("-1", "1.5", "x", "9" * 30, "1/2"):
        assert lfs.call("PUT", project, f"gitlab-lfs/objects/{'a' * 64}/{size}", make.root).status_code == 400


CALLERS = [
    ("administrator", 200, 200),
    ("owner", 200, 200),
    ("master", 200, 200),
    ("developer", 200, 200),
    ("reporter", 200, 403),
    ("guest", 403, 403),
    ("stranger", 404, 404),
    ("nobody", 401, 401),
]


@pytest.mark.parametrize(("role", "down", "up"), CALLERS)
def test_permissions(make: Make, lfs: LfsClient, roles: UsersByRole, role: str, down: int, up: int) -> None:
    project, caller = project_with(make, roles), roles[role]
    content = _fresh()
    lfs.upload(project, roles.owner, content)
    answers = [lfs.batch(project, caller, "download", content), lfs.get(project, caller, content)]
    assert [each.status_code for each in answers] == [down, down]
    fresh = _fresh()
    path = f"gitlab-lfs/objects/{oid_of(fresh)}/{len(fresh)}"
    answers += [lfs.batch(project, caller, "upload", fresh), lfs.call("PUT", project, path, caller, content=fresh)]
    assert [each.status_code for each in answers[2:]] == [up, up]
    for each in answers:
        if each.status_code == 401:
            assert each.headers["lfs-authenticate"] == each.headers["www-authenticate"] == 'Basic realm="Ingot"'
        if each.status_code >= 400:
            assert set(each.json()) == {"message", "documentation_url", "request_id"}
    assert (lfs.get(project, roles.owner, fresh).status_code == 200) == (up == 200)


def test_a_public_project_is_readable_by_all(make: Make, lfs: LfsClient) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="public")
    content = _fresh()
    lfs.upload(project, owner, content)
    asked = lfs.batch(project, None, "download", content)
    action = asked.json()["objects"][0]["actions"]["download"]
    assert action["header"] == {}
    assert lfs.follow("GET", action).content == content
    assert lfs.batch(project, None, "upload", content).status_code == 401
    assert lfs.batch("no/such-project", owner, "download", content).status_code == 404
    assert lfs.batch("no/such-project", None, "download", content).status_code == 401
    assert lfs.batch(str(project.id), owner, "download", content).status_code == 404
    assert lfs.batch(project, (owner.username, "wrong"), "download", content).status_code == 401


def test_token_scopes(api: Api, make: Make, lfs: LfsClient) -> None:
    owner = make.user(password="a-long-password-of-mine")
    project = make_project(make, owner, visibility="private")
    content = _fresh()
    lfs.upload(project, (owner.username, "a-long-password-of-mine"), content)
    for scopes, down, up in (
        (["api"], 200, 200),
        (["read_repository"], 200, 403),
        (["read_repository", "write_repository"], 200, 200),
        (["read_user"], 403, 403),
    ):
        who = ("oauth2", make.token(owner.id, *scopes))
        assert lfs.batch(project, who, "download", content).status_code == down
        assert lfs.batch(project, who, "upload", content).status_code == up
    sent = {"name": "robot", "scopes": ["read_repository"]}
    made = api.post(f"/projects/{project.id}/deploy_tokens", owner, **sent).json()
    who = (made["username"], made["token"])
    assert lfs.batch(project, who, "download", content).status_code == 200
    assert lfs.get(project, who, content).content == content
    assert lfs.batch(project, who, "upload", content).status_code == 403
    by_header = lfs.call(
        "GET", project, f"gitlab-lfs/objects/{oid_of(content)}", headers={"Private-Token": owner.token}
    )
    assert by_header.content == content


def test_disabled_lfs_and_archived_projects(api: Api, make: Make, lfs: LfsClient) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="private")
    content = _fresh()
    lfs.upload(project, owner, content)
    api.put(f"/projects/{project.id}", owner, lfs_enabled=False)
    off = lfs.batch(project, owner, "download", content)
    assert (off.status_code, off.json()["message"]) == (404, "Git LFS is not enabled for this project.")
    assert lfs.get(project, owner, content).status_code == 404
    assert lfs.batch(project, None, "download", content).status_code == 401
    api.put(f"/projects/{project.id}", owner, lfs_enabled=True)
    api.post(f"/projects/{project.id}/archive", owner)
    assert lfs.batch(project, owner, "download", content).status_code == 200
    refused = lfs.batch(project, owner, "upload", content)
    assert (refused.status_code, "archived" in refused.json()["message"]) == (403, True)


def test_new_projects_of_a_group_follow_it(api: Api, make: Make, lfs: LfsClient) -> None:
    owner, content = make.user(), _fresh()
    group = make_group(make, owner, lfs_enabled=False)
    without, chosen = make_project(make, owner, group=group), make_project(make, owner, group=group, lfs_enabled=True)
    api.put(group.url, owner, lfs_enabled=True)
    after = make_project(make, owner, group=group)
    for project, status in ((without, 404), (chosen, 200), (after, 200)):
        assert lfs.batch(project, owner, "upload", content).status_code == status


def test_withdrawn_access_ends_at_once(api: Api, make: Make, lfs: LfsClient) -> None:
    """Attack: use the actions of a batch after the membership, the token or the level is gone."""
    owner, member = make.user(), make.user()
    project = make_project(make, owner, visibility="private", members={member: Level.DEVELOPER})
    content, more = _fresh(), _fresh()
    lfs.upload(project, member, content)
    down = lfs.batch(project, member, "download", content).json()["objects"][0]["actions"]["download"]
    up = lfs.batch(project, member, "upload", more).json()["objects"][0]["actions"]["upload"]
    api.put(f"/projects/{project.id}/members/{member.id}", owner, access_level=20)
    assert lfs.follow("GET", down).status_code == 200
    assert lfs.follow("PUT", up, content=more).status_code == 403
    api.delete(f"/projects/{project.id}/members/{member.id}", owner)
    assert lfs.follow("GET", down).status_code == 404
    api.post(f"/users/{member.id}/block", make.root)
    assert lfs.follow("GET", down).status_code == 401


def test_permission_is_checked_again_at_the_end_of_an_upload(api: Api, make: Make, lfs: LfsClient) -> None:
    """Attack: start an upload, lose the membership, then finish it."""
    owner, member = make.user(), make.user()
    project = make_project(make, owner, visibility="private", members={member: Level.DEVELOPER})
    content = _fresh(300_000)

    def chunks() -> object:
        yield content[:200_000]
        assert api.delete(f"/projects/{project.id}/members/{member.id}", owner).status_code == 200
        yield content[200_000:]

    path = f"gitlab-lfs/objects/{oid_of(content)}/{len(content)}"
    assert lfs.call("PUT", project, path, member, content=chunks()).status_code in (403, 404)
    assert lfs.get(project, owner, content).status_code == 404
    assert _counted(api, owner, project) == 0


def test_concurrent_uploads_of_one_file(api: Api, make: Make, lfs: LfsClient) -> None:
    """It is stored once, and counted once in each project."""
    owner = make.user()
    places = [make_project(make, owner), make_project(make, owner)]
    content = _fresh(100_000)

    def put(project: Project) -> int:
        path = f"gitlab-lfs/objects/{oid_of(content)}/{len(content)}"
        return lfs.call("PUT", project, path, owner, content=content).status_code

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(put, places * 3)) == {200}
    for project in places:
        assert lfs.get(project, owner, content).content == content
        assert _counted(api, owner, project) == len(content)


def test_a_disconnecting_client_leaves_no_file(instance: Instance, make: Make, lfs: LfsClient) -> None:
    owner = make.user()
    project = make_project(make, owner)
    content = _fresh(400_000)

    def chunks() -> object:
        yield content[:300_000]
        raise ConnectionAbortedError

    path = f"gitlab-lfs/objects/{oid_of(content)}/{len(content)}"
    with pytest.raises(ConnectionAbortedError):
        lfs.call("PUT", project, path, owner, content=chunks())
    lfs.upload(project, owner, content)
    assert lfs.get(project, owner, content).content == content
    folder = instance.settings.data / "lfs" / "incoming"
    for _ in range(200):
        if not list(folder.iterdir()):
            break
        lfs.get(project, owner, content)
    assert list(folder.iterdir()) == []
