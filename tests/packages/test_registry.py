"""Container registry, by a client that follows the distribution specification."""

import json
from collections.abc import Iterator

import httpx
import pytest

from ingot.core.db.times import add_duration
from ingot.packages.cleanup import enqueue_package_sweep
from ingot.packages.containers.service import delete_unused_images
from tests.ci.job_tokens.test_job_tokens import RunningJob
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.packages.client import basic, deploy_token
from tests.packages.registry_client import INDEX, LAYER, MANIFEST, RegistryClient, described, digest_of
from tests.roles import UsersByRole, project_with


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    """Return a private project of the roles."""
    return project_with(make, roles)


@pytest.fixture
def registry(instance: Instance, roles: UsersByRole) -> Iterator[RegistryClient]:
    """Yield a client of the developer."""
    client = RegistryClient(instance, roles.developer.username, roles.developer.token)
    yield client
    client.close()


def test_an_image_is_pushed_and_pulled(
    api: Api, registry: RegistryClient, roles: UsersByRole, project: Project
) -> None:
    name = f"{project.path}/web"
    layer = b"layer" * 1000
    manifest = registry.push_image(name, "1.0", layer)
    content = json.dumps(manifest).encode()
    for reference in ("1.0", digest_of(content)):
        for method in ("GET", "HEAD"):
            pulled = registry(method, f"/v2/{name}/manifests/{reference}")
            assert (pulled.status_code, pulled.headers["content-type"]) == (200, MANIFEST)
            assert pulled.headers["docker-content-digest"] == digest_of(content)
            assert int(pulled.headers["content-length"]) == len(content)
    assert pulled.content == b""
    blob = f"/v2/{name}/blobs/{digest_of(layer)}"
    assert registry("GET", blob).content == layer
    assert registry("GET", blob, headers={"Range": "bytes=5-9"}).content == b"layer"
    assert int(registry("HEAD", blob).headers["content-length"]) == len(layer)
    for missing in (f"manifests/{digest_of(b'x')}", "manifests/2.0", f"blobs/{digest_of(b'x')}", "blobs/x"):
        answer = registry("GET", f"/v2/{name}/{missing}")
        assert (answer.status_code, "UNKNOWN" in answer.text) == (404, True)
    (listed,) = api.get(f"{project.url}/registry/repositories", roles.reporter, tags="true", tags_count="true").json()
    assert (listed["name"], listed["path"], listed["tags_count"]) == ("web", name, 1)
    assert listed["tags"][0]["location"].endswith(f"/{name}:1.0")
    shown = api.get(f"/registry/repositories/{listed['id']}", roles.reporter, size="true").json()
    assert shown["size"] == len(layer) + manifest["config"]["size"]
    tags = f"{project.url}/registry/repositories/{listed['id']}/tags"
    assert [tag["name"] for tag in api.get(tags, roles.reporter).json()] == ["1.0"]
    tag = api.get(f"{project.url}/registry/repositories/{listed['id']}/tags/1.0", roles.reporter).json()
    assert tag["digest"] == digest_of(content)
    assert f"sha256:{tag['revision']}" == manifest["config"]["digest"]
    assert tag["total_size"] == len(content) + len(layer) + manifest["config"]["size"]


def test_uploads_in_parts_and_mounts(instance: Instance, registry: RegistryClient, project: Project) -> None:
    name = project.path
    started = registry("POST", f"/v2/{name}/blobs/uploads/")
    location, digest = started.headers["location"], digest_of(b"abcdef")
    part = registry("PATCH", location, content=b"abc", headers={"Content-Range": "0-2"})
    assert (part.status_code, part.headers["range"]) == (202, "0-2")
    assert registry("PATCH", location, content=b"x", headers={"Content-Range": "7-7"}).status_code == 416
    shown = registry("GET", location)
    assert (shown.status_code, shown.headers["range"], shown.headers["location"]) == (204, "0-2", location)
    assert registry("PATCH", location, content=iter([b"d", b"e"])).headers["range"] == "0-4"
    assert registry("HEAD", f"/v2/{name}/blobs/{digest}").status_code == 404
    done = registry("PUT", location, params={"digest": digest}, content=b"f", headers={"Content-Range": "5-5"})
    assert (done.status_code, done.headers["location"]) == (201, f"/v2/{name}/blobs/{digest}")
    assert registry("GET", done.headers["location"]).content == b"abcdef"
    assert registry("GET", location).status_code == 404
    for wrong, code in (
        (digest_of(b"other"), "DIGEST_INVALID"),
        ("sha256:x", "DIGEST_INVALID"),
        ("", "DIGEST_INVALID"),
    ):
        location = registry("POST", f"/v2/{name}/blobs/uploads/").headers["location"]
        refused = registry("PUT", location, params={"digest": wrong}, content=b"abc")
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, code)
    whole = registry("POST", f"/v2/{name}/blobs/uploads/", params={"digest": digest_of(b"one")}, content=b"one")
    assert whole.status_code == 201
    cancelled = registry("POST", f"/v2/{name}/blobs/uploads/").headers["location"]
    assert registry("DELETE", cancelled).status_code == 204
    assert registry("PATCH", cancelled, content=b"x").status_code == 404
    mount = {"mount": digest, "from": name}
    mounted = registry("POST", f"/v2/{name}/copy/blobs/uploads/", params=mount)
    assert (mounted.status_code, mounted.headers["location"]) == (201, f"/v2/{name}/copy/blobs/{digest}")
    assert registry("GET", f"/v2/{name}/copy/blobs/{digest}").content == b"abcdef"
    for params in ({"mount": digest_of(b"x"), "from": name}, {"mount": digest, "from": "no/such"}, {"mount": digest}):
        assert registry("POST", f"/v2/{name}/other/blobs/uploads/", params=params).status_code == 202
    # An upload belongs to its repository.
    foreign = registry("POST", f"/v2/{name}/blobs/uploads/").headers["location"].rpartition("/")[2]
    assert registry("PATCH", f"/v2/{name}/copy/blobs/uploads/{foreign}", content=b"x").status_code == 404
    assert registry("PATCH", f"/v2/{name}/blobs/uploads/..%2f..", content=b"x").status_code == 404


def test_blobs_of_hidden_projects_are_not_mounted(
    instance: Instance, make: Make, registry: RegistryClient, roles: UsersByRole, project: Project
) -> None:
    hidden = make_project(make, roles.owner)
    owner = RegistryClient(instance, roles.owner.username, roles.owner.token)
    digest = owner.push_blob(hidden.path, b"secret")
    params = {"mount": digest, "from": hidden.path}
    assert registry("POST", f"/v2/{project.path}/blobs/uploads/", params=params).status_code == 202
    assert registry("GET", f"/v2/{project.path}/blobs/{digest}").status_code == 404
    assert registry("GET", f"/v2/{hidden.path}/blobs/{digest}").status_code == 404
    owner.close()


def test_manifests_tags_and_referrers(registry: RegistryClient, project: Project) -> None:
    name = project.path
    for tag in ("b", "a", "d", "c"):
        manifest = registry.push_image(name, tag, b"shared layer")
    listed = registry("GET", f"/v2/{name}/tags/list", params={"n": 3})
    assert listed.json() == {"name": name, "tags": ["a", "b", "c"]}
    following = listed.headers["link"].partition(">")[0].removeprefix("<")
    assert registry("GET", following).json()["tags"] == ["d"]
    assert "link" not in registry("GET", following).headers
    assert registry("GET", f"/v2/{name}/tags/list", params={"n": "x"}).status_code == 400
    subject = described(MANIFEST, json.dumps(manifest).encode())
    signature = {**manifest, "artifactType": "application/x.signature", "subject": subject, "annotations": {"a": "b"}}
    pushed = registry.push_manifest(name, digest_of(json.dumps(signature).encode()), signature)
    assert (pushed.status_code, pushed.headers["oci-subject"]) == (201, subject["digest"])
    found = registry("GET", f"/v2/{name}/referrers/{subject['digest']}")
    assert found.headers["content-type"] == INDEX
    (descriptor,) = found.json()["manifests"]
    assert (descriptor["artifactType"], descriptor["annotations"]) == ("application/x.signature", {"a": "b"})
    other = registry("GET", f"/v2/{name}/referrers/{subject['digest']}", params={"artifactType": "x"})
    assert (other.json()["manifests"], other.headers["oci-filters-applied"]) == ([], "artifactType")
    assert registry("GET", f"/v2/{name}/referrers/{digest_of(b'x')}").json()["manifests"] == []
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [subject]}
    assert registry.push_manifest(name, "multi", index).status_code == 201
    bad = [
        ("x", {**manifest, "layers": [described(LAYER, b"never pushed")]}, 404),
        ("x", {**index, "manifests": [described(MANIFEST, b"never pushed")]}, 404),
        ("x", {**manifest, "config": {**manifest["config"], "digest": "sha256:../x"}}, 400),
        ("x", {**manifest, "schemaVersion": 1}, 400),
        ("x", {**manifest, "mediaType": "text/plain"}, 400),
        (digest_of(b"x"), manifest, 400),
        ("-x", manifest, 400),
        ("x" * 129, manifest, 400),
    ]
    for reference, document, status in bad:
        assert registry.push_manifest(name, reference, document).status_code == status, document
    for content in (b"", b"[]", b"{", b"{" * 5_000, b" " * (4 * 2**20 + 1)):
        headers = {"Content-Type": MANIFEST}
        answer = registry("PUT", f"/v2/{name}/manifests/x", content=content, headers=headers)
        assert answer.status_code in (400, 413), content[:10]
    assert registry("DELETE", f"/v2/{name}/manifests/a").status_code == 202
    assert registry("GET", f"/v2/{name}/manifests/a").status_code == 404
    layer = f"/v2/{name}/blobs/{digest_of(b'shared layer')}"
    assert registry("DELETE", layer).status_code == 405
    digest = registry("HEAD", f"/v2/{name}/manifests/b").headers["docker-content-digest"]
    assert registry("DELETE", f"/v2/{name}/manifests/{digest}").status_code == 202
    assert registry("GET", f"/v2/{name}/manifests/b").status_code == 404
    loose = registry.push_blob(name, b"loose")
    assert registry("DELETE", f"/v2/{name}/blobs/{loose}").status_code == 202
    assert registry("GET", f"/v2/{name}/blobs/{loose}").status_code == 404


def test_large_referrers_are_on_several_pages(registry: RegistryClient, project: Project) -> None:
    """Attack: a thousand signatures of four megabytes for one image, which everyone may list."""
    name = project.path
    manifest = registry.push_image(name, "a", b"layer")
    subject = described(MANIFEST, json.dumps(manifest).encode())
    for number in range(4):
        signature = {
            **manifest,
            "subject": subject,
            "annotations": {"a": str(number) * (3 * 2**20 if number < 2 else 9)},
        }
        content = json.dumps(signature).encode()
        assert registry.push_manifest(name, digest_of(content), signature).status_code == 201
    pages, url = [], f"/v2/{name}/referrers/{subject['digest']}"
    while url:
        answer = registry("GET", url)
        assert answer.status_code == 200, answer.text
        pages.append([each["annotations"]["a"][0] for each in answer.json()["manifests"]])
        url = answer.headers.get("link", "").partition(">")[0].removeprefix("<")
    assert pages == [["0"], ["1", "2", "3"]]
    assert registry("GET", f"/v2/{name}/referrers/{subject['digest']}?last={2**70}").status_code == 200


def test_a_manifest_of_many_layers(registry: RegistryClient, project: Project) -> None:
    """Attack: as many layers as fit into a manifest, the same one and unknown ones."""
    manifest = registry.push_image(project.path, "a", b"layer")
    many = {**manifest, "layers": manifest["layers"] * 20_000}
    assert registry.push_manifest(project.path, "many", many).status_code == 201
    unknown = [described(LAYER, str(number).encode()) for number in range(20_000)]
    refused = registry.push_manifest(project.path, "unknown", {**manifest, "layers": unknown})
    assert (refused.status_code, len(refused.content) < 10_000) == (404, True)
    endless = {**manifest, "layers": [{**manifest["layers"][0], "size": 2**63 - 1}] * 4}
    assert registry.push_manifest(project.path, "endless", endless).status_code in (201, 400)


def test_access_by_role_and_kind_of_credential(
    api: Api, instance: Instance, make: Make, registry: RegistryClient, roles: UsersByRole, project: Project
) -> None:
    registry.push_image(project.path, "1", b"layer")
    password = make.user(password="correct horse battery")
    api.post(f"{project.url}/members", make.root, user_id=password.id, access_level=20)
    job = RunningJob(make, roles.developer, project).token
    reader = deploy_token(api, roles.owner, project, "read_registry")
    writer = deploy_token(api, roles.owner, project, "write_registry")
    neither = deploy_token(api, roles.owner, project, "read_repository")
    person = roles.developer
    read_api = make.token(person.id, "read_api")
    callers = [
        (roles.owner.username, roles.owner.token, 200, 202),
        (roles.reporter.username, roles.reporter.token, 200, 403),
        (roles.guest.username, roles.guest.token, 403, 403),
        (roles.stranger.username, roles.stranger.token, 404, 404),
        ("", "", 401, 401),
        (person.username, "wrong", 401, 401),
        (person.username, make.token(person.id, "read_registry"), 200, 403),
        (person.username, make.token(person.id, "write_registry"), 200, 202),
        (person.username, read_api, 403, 403),
        ("gitlab-ci-token", job, 200, 202),
        (*reader, 200, 403),
        (*writer, 200, 202),
        (*neither, 403, 403),
        (password.username, password.password, 200, 403),
    ]
    for username, secret, pull, push in callers:
        client = RegistryClient(instance, username, secret)
        assert client("GET", f"/v2/{project.path}/manifests/1").status_code == pull, username
        assert client("POST", f"/v2/{project.path}/blobs/uploads/").status_code == push, username
        known = 401 if pull == 401 else 200
        assert client("GET", "/v2/").status_code == (403 if secret == read_api else known), username
        client.close()
    assert registry("GET", "/v2/_catalog").status_code == 403
    root = RegistryClient(instance, make.root.username, make.root.token)
    assert project.path in root("GET", "/v2/_catalog").json()["repositories"]
    root.close()
    # A revoked token ends at once, although the registry's own token is still valid.
    token = make.token(roles.reporter.id, "read_registry")
    revoked = RegistryClient(instance, "x", token)
    assert revoked("GET", f"/v2/{project.path}/manifests/1").status_code == 200
    api.request("DELETE", "/personal_access_tokens/self", headers={"PRIVATE-TOKEN": token})
    assert revoked("GET", f"/v2/{project.path}/manifests/1").status_code == 401
    revoked.close()


def test_a_token_is_valid_for_the_requested_scope_only(
    instance: Instance, registry: RegistryClient, roles: UsersByRole, project: Project
) -> None:
    registry.push_image(project.path, "1", b"layer")
    login = basic(roles.developer.username, roles.developer.token)
    upload, manifest = f"/v2/{project.path}/blobs/uploads/", f"/v2/{project.path}/manifests/1"
    with httpx.Client(base_url=instance.url, trust_env=False) as client:

        def statuses(*scopes: str) -> list[int]:
            answer = client.get("/jwt/auth", params={"scope": list(scopes)}, headers=login)
            headers = {"Authorization": f"Bearer {answer.json()['token']}"}
            calls = (("GET", "/v2/"), ("GET", manifest), ("POST", upload), ("DELETE", f"{manifest}-missing"))
            return [client.request(method, path, headers=headers).status_code for method, path in calls]

        here = f"repository:{project.path}"
        assert statuses() == [200, 401, 401, 401]
        assert statuses(f"{here}:pull") == [200, 200, 401, 401]
        assert statuses(f"{here}:pull,push") == [200, 200, 202, 401]
        assert statuses(f"{here}/other:pull,push {here}:pull") == [200, 200, 401, 401]
        assert statuses(f"{here}/other:*", f"{here}:*") == [200, 200, 202, 404]


def test_settings_of_a_project_and_of_a_group(api: Api, instance: Instance, make: Make, roles: UsersByRole) -> None:
    group = make_group(make, roles.owner, visibility="public")
    project = make_project(make, roles.owner, group=group, visibility="public", members=roles.members)
    client = RegistryClient(instance, roles.owner.username, roles.owner.token)
    anonymous = RegistryClient(instance)
    client.push_image(f"{project.path}/app", "1", b"layer")
    client.push_blob(f"{project.path}/unfinished", b"layer")

    def listed(role: str) -> list[str]:
        answer = api.get(f"{group.url}/registry/repositories", roles[role])
        return [repository["name"] for repository in answer.json()]

    assert anonymous("GET", f"/v2/{project.path}/app/manifests/1").status_code == 200
    assert anonymous("POST", f"/v2/{project.path}/app/blobs/uploads/").status_code == 401
    assert (listed("nobody"), listed("stranger"), listed("administrator")) == (["app"], ["app"], ["app"])
    (repository,) = api.get(f"{project.url}/registry/repositories", None).json()
    api.put(project.url, roles.owner, visibility="private")
    assert anonymous("GET", f"/v2/{project.path}/app/manifests/1").status_code == 401
    assert (listed("nobody"), listed("stranger"), listed("reporter")) == ([], [], ["app"])
    for caller, status in ((None, 404), (roles.stranger, 404), (roles.guest, 403), (roles.reporter, 200)):
        assert api.get(f"/registry/repositories/{repository['id']}", caller).status_code == status
    api.put(project.url, roles.owner, container_registry_enabled=False)
    assert client("GET", f"/v2/{project.path}/app/manifests/1").status_code == 403
    assert listed("owner") == []
    client.close()
    anonymous.close()


def test_tags_and_repositories_are_deleted(
    api: Api, registry: RegistryClient, roles: UsersByRole, project: Project
) -> None:
    for tag in ("latest", "v1", "v2", "v3", "keep-1"):
        registry.push_image(project.path, tag, b"layer", tag.encode())
    (repository,) = api.get(f"{project.url}/registry/repositories", roles.owner).json()
    where = f"{project.url}/registry/repositories/{repository['id']}"
    tags = f"{project.url}/registry/repositories/{repository['id']}/tags"

    def names() -> list[str]:
        return [tag["name"] for tag in api.get(tags, roles.owner).json()]

    def delete(**criteria: object) -> int:
        return api.request("DELETE", tags, roles.master, json=criteria).status_code

    assert api.request("DELETE", f"{tags}/v1", roles.reporter).status_code == 403
    assert api.request("DELETE", f"{tags}/v1", roles.developer).status_code == 200
    assert api.request("DELETE", f"{tags}/v1", roles.developer).status_code == 404
    assert api.request("DELETE", tags, roles.developer, json={"name_regex_delete": ".*"}).status_code == 403
    assert (delete(), delete(name_regex_delete="("), delete(name_regex_delete=".*", older_than="x")) == (400, 400, 400)
    assert delete(name_regex_delete=".*", older_than="1d") == 202
    assert names() == ["keep-1", "latest", "v2", "v3"]
    assert delete(name_regex_delete="v.*", keep_n=1) == 202
    assert names() == ["keep-1", "latest", "v3"]
    assert delete(name_regex_delete=".*", name_regex_keep="keep.*") == 202
    assert names() == ["keep-1", "latest"]
    assert api.delete(where, roles.developer).status_code == 403
    assert api.delete(where, roles.master).status_code == 202
    assert api.get(f"{project.url}/registry/repositories", roles.owner).json() == []
    assert registry("GET", f"/v2/{project.path}/manifests/latest").status_code == 404


def test_unused_images_are_deleted_after_a_day(
    api: Api, instance: Instance, make: Make, registry: RegistryClient, roles: UsersByRole, project: Project
) -> None:
    name = project.path
    registry.push_image(name, "kept", b"kept layer of the sweep")
    registry.push_image(name, "gone", b"other layer of the sweep")
    registry("DELETE", f"/v2/{name}/manifests/gone")
    registry.push_blob(f"{name}/unfinished", b"blob without an image")
    started = registry("POST", f"/v2/{name}/blobs/uploads/").headers["location"]

    def sweep() -> None:
        instance.app.database.write(enqueue_package_sweep)
        instance.work()

    def exists(blob: bytes, path: str = "") -> bool:
        return registry("HEAD", f"/v2/{name}{path}/blobs/{digest_of(blob)}").status_code == 200

    sweep()
    assert exists(b"other layer of the sweep") and exists(b"blob without an image", "/unfinished")
    instance.app.database.write(lambda db: delete_unused_images(db, add_duration(db.now, seconds=60)))
    instance.work()
    assert exists(b"kept layer of the sweep")
    assert registry("GET", f"/v2/{name}/manifests/kept").status_code == 200
    assert not exists(b"other layer of the sweep")
    assert not exists(b"blob without an image", "/unfinished")
    assert registry("PATCH", started, content=b"x").status_code == 404
    # A blob that was deleted can be pushed again.
    registry.push_image(name, "again", b"other layer of the sweep")
    assert exists(b"other layer of the sweep")


def test_protection_rules(api: Api, registry: RegistryClient, roles: UsersByRole, project: Project) -> None:
    rules = f"{project.url}/registry/protection/repository/rules"
    sent = {"repository_path_pattern": f"{project.path}/prod*", "minimum_access_level_for_push": "maintainer"}
    assert api.post(rules, roles.developer, **sent).status_code == 403
    rule = api.post(rules, roles.master, **sent).json()
    assert (rule["minimum_access_level_for_push"], rule["minimum_access_level_for_delete"]) == ("maintainer", None)
    assert api.post(rules, roles.master, **sent).status_code == 422
    foreign = {"repository_path_pattern": "other/*", "minimum_access_level_for_push": "owner"}
    assert api.post(rules, roles.master, **foreign).status_code == 400
    assert len(api.get(rules, roles.master).json()) == 1
    assert registry("POST", f"/v2/{project.path}/prod/blobs/uploads/").status_code == 403
    assert registry("POST", f"/v2/{project.path}/test/blobs/uploads/").status_code == 202
    url = f"{project.url}/registry/protection/repository/rules/{rule['id']}"
    cleared = {"minimum_access_level_for_push": "", "minimum_access_level_for_delete": "admin"}
    assert api.request("PATCH", url, roles.master, json=cleared).json()["minimum_access_level_for_delete"] == "admin"
    registry.push_image(f"{project.path}/prod", "1", b"layer")
    assert registry("DELETE", f"/v2/{project.path}/prod/manifests/1").status_code == 403
    (repository,) = api.get(f"{project.url}/registry/repositories", roles.owner).json()
    assert api.delete(f"{project.url}/registry/repositories/{repository['id']}", roles.owner).status_code == 403
    assert api.delete(url, roles.master).status_code == 204
    assert registry("DELETE", f"/v2/{project.path}/prod/manifests/1").status_code == 202


def test_images_are_closed_to_other_addresses(instance: Instance, api: Api, make: Make) -> None:
    """A token of before does not help, a deploy token neither; tests come from 127.0.0.1."""
    owner = make.user()
    group = make_group(make, owner, visibility="public")
    project = make_project(make, owner, group=group, visibility="public")
    sent = {"name": "reader", "scopes": ["read_registry", "write_registry"]}
    deploy = api.post(f"{project.url}/deploy_tokens", owner, **sent).json()
    logins = [("", ""), (owner.username, owner.token), (deploy["username"], deploy["token"])]
    clients = [RegistryClient(instance, *login) for login in logins]
    clients[1].push_image(project.path, "1.0", b"layer")

    def statuses() -> list[int]:
        paths = (f"/v2/{project.path}/manifests/1.0", f"/v2/{project.path}/tags/list")
        return [client("GET", path).status_code for client in clients for path in paths]

    assert statuses() == [200] * 6
    assert api.put(group.url, owner, ip_restriction_ranges="192.0.2.0/24").status_code == 200
    closed = statuses()
    assert set(closed) <= {401, 404}, closed
    started = [client("POST", f"/v2/{project.path}/blobs/uploads/").status_code for client in clients]
    assert set(started) <= {401, 404}, started
    for ranges in ("127.0.0.1", ""):
        assert api.put(group.url, owner, ip_restriction_ranges=ranges).status_code == 200
        assert statuses() == [200] * 6
    for client in clients:
        client.close()
