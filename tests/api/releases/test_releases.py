"""Releases: creation with and without a tag, reading, editing, deletion, and permissions."""

import io
import tarfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, day, make_project, statements_of
from tests.git_history import History, repository_of, run
from tests.roles import UsersByRole, project_with


def some_tags() -> History:
    """Create two tags and a branch."""
    history = History()
    first = history.commit(files={"README.md": "hello\n"}, message="Begin")
    history.commit("feature", files={"a": "1\n"}, parents=(first,))
    history.tag("v1", first)
    history.tag("rel/2.0", first, "Two")
    return history


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a public project with two tags."""
    project = project_with(make, roles, visibility="public")
    some_tags().fill(instance, project)
    return project


def tags(answer: httpx.Response) -> list[str]:
    """Return the tags in a list of releases."""
    assert answer.status_code == 200, answer.text
    return [release["tag_name"] for release in answer.json()]


def test_a_release_of_an_existing_tag(api: Api, instance: Instance, roles: UsersByRole, project: Project) -> None:
    with day(instance, "2026-03-01"):
        made = api.post(
            f"/projects/{project.id}/releases",
            roles.developer,
            tag_name="rel/2.0",
            name="Two",
            description="# Notes\n\nmany",
            milestones=[],
            assets={"links": [{"name": "linux", "url": "https://example.org/linux", "link_type": "package"}]},
        )
    assert made.status_code == 201, made.text
    shown = made.json()
    commit = run(repository_of(instance, project).path, "rev-parse", "v1")
    assert (shown["tag_name"], shown["name"], shown["description"]) == ("rel/2.0", "Two", "# Notes\n\nmany")
    assert shown["created_at"] == shown["released_at"] == "2026-03-01T12:00:00.000Z"
    assert (shown["upcoming_release"], shown["milestones"], shown["evidences"]) == (False, [], [])
    assert shown["author"]["username"] == roles.developer.username
    assert shown["commit"]["id"] == commit
    assert shown["commit_path"] == f"/{project.path}/-/commit/{commit}"
    assert shown["tag_path"] == f"/{project.path}/-/tags/rel%2F2.0"
    assert shown["_links"]["self"] == f"{instance.url}/{project.path}/-/releases/rel%2F2.0"
    archive = f"{instance.url}/{project.path}/-/archive/rel/2.0/{project.path.rpartition('/')[2]}-rel-2.0"
    assert shown["assets"]["sources"] == [
        {"format": kind, "url": f"{archive}.{kind}"} for kind in ("zip", "tar.gz", "tar.bz2", "tar")
    ]
    (link,) = shown["assets"]["links"]
    assert (link["name"], link["url"], link["link_type"]) == ("linux", "https://example.org/linux", "package")
    assert (link["direct_asset_url"], link["external"], shown["assets"]["count"]) == (link["url"], True, 5)

    assert api.get(f"/projects/{project.id}/releases/rel%2F2.0").json() == shown
    assert api.get(f"/projects/{project.id}/releases").json() == [shown]
    assert (
        api.get(f"/projects/{project.id}/repository/tags/rel%2F2.0").json()["release"]["description"]
        == "# Notes\n\nmany"
    )
    again = api.post(f"/projects/{project.id}/releases", roles.developer, tag_name="rel/2.0")
    assert (again.status_code, again.json()["message"]) == (409, "Release already exists")


def test_the_sources_are_those_of_the_tag(api: Api, make: Make, instance: Instance, roles: UsersByRole) -> None:
    """Attack: a branch with the name of the tag does not replace it."""
    project = project_with(make, roles, visibility="public")
    history = History()
    tagged = history.commit(files={"README.md": "hello\n"})
    history.commit("v1", files={"README.md": "evil\n"}, parents=(tagged,))
    history.tag("v1", tagged)
    history.fill(instance, project)
    url = f"/projects/{project.id}/releases"
    made = api.post(url, roles.developer, tag_name="v1", name="One", description="x").json()
    sources = {source["format"]: source["url"] for source in made["assets"]["sources"]}
    packed = httpx.get(sources["tar"])
    name = f"{project.path.split('/')[-1]}-v1"
    assert packed.headers["content-disposition"] == f'attachment; filename="{name}.tar"'
    assert b"hello" in packed.content and b"evil" not in packed.content
    with tarfile.open(fileobj=io.BytesIO(packed.content)) as unpacked:
        assert f"{name}/README.md" in unpacked.getnames()


def test_a_release_creates_a_missing_tag(api: Api, instance: Instance, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/releases"
    bare = api.post(url, roles.developer, tag_name="v3")
    assert (bare.status_code, bare.json()["message"]) == (400, "Ref is not specified")
    made = api.post(url, roles.developer, tag_name="v3", ref="feature", tag_message="Three")
    assert made.status_code == 201, made.text
    path = repository_of(instance, project).path
    assert made.json()["commit"]["id"] == run(path, "rev-parse", "feature")
    assert (made.json()["name"], made.json()["description"]) == ("v3", None)
    assert api.get(f"/projects/{project.id}/repository/tags/v3").json()["message"] == "Three"
    plain = api.post(url, roles.developer, tag_name="v4", ref="v3")
    assert run(path, "cat-file", "-t", "v4") == "commit"
    assert plain.json()["commit"]["id"] == made.json()["commit"]["id"]
    ignored = api.post(url, roles.developer, tag_name="v1", ref="nope").json()
    assert ignored["commit"]["title"] == "Begin"


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"tag_name": "-x", "ref": "master"}, "Tag name invalid"),
        ({"tag_name": "x", "ref": "nope"}, "Target nope is invalid"),
        ({"tag_name": "x", "ref": "--output=/tmp/pwn"}, "Target --output=/tmp/pwn is invalid"),
        ({"tag_name": "v1/x", "ref": "master"}, None),
        ({"tag_name": "x", "ref": "master", "milestones": ["1.0", "2"]}, "Milestone(s) not found: 1.0, 2"),
        ({"tag_name": "x", "ref": "master", "milestone_ids": [3]}, "Milestone(s) not found: 3"),
        ({"tag_name": "x", "ref": "master", "released_at": "soon"}, {"released_at": ["is invalid"]}),
        ({"tag_name": "x", "ref": "master", "name": "n" * 256}, None),
        ({"tag_name": "x", "ref": "master", "description": "n" * 1_000_001}, None),
        ({"tag_name": "x", "ref": "master", "description": ["x"]}, {"description": ["is invalid"]}),
        ({"tag_name": "x", "ref": "master", "assets": "x"}, {"assets": ["is invalid"]}),
        ({"tag_name": "x", "ref": "master", "assets": {"links": [{"name": "x"}]}}, None),
        (
            {"tag_name": "x", "ref": "master", "assets": {"links": [{"name": "x", "url": "javascript:alert(1)"}]}},
            {"url": ["is blocked: Only allowed schemes are http, https, ftp"]},
        ),
        (
            {"tag_name": "x", "ref": "master", "assets": {"links": [{"name": "x", "url": "http://a/"}] * 2}},
            {"name": ["has already been taken"], "url": ["has already been taken"]},
        ),
        ({"ref": "master"}, '400 (Bad request) "tag_name" not given'),
    ],
)
def test_a_rejected_release_changes_nothing(
    api: Api, roles: UsersByRole, project: Project, sent: dict[str, Any], message: Any
) -> None:
    """The tag is not created either."""
    refused = api.post(f"/projects/{project.id}/releases", roles.developer, **sent)
    assert refused.status_code == 400, refused.text
    if message is not None:
        assert refused.json()["message"] == message
    assert tags(api.get(f"/projects/{project.id}/releases")) == []
    assert len(api.get(f"/projects/{project.id}/repository/tags").json()) == 2


def test_edit(api: Api, instance: Instance, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/releases"
    made = api.post(url, roles.developer, tag_name="v1", name="One", description="first").json()
    changed = api.put(f"/projects/{project.id}/releases/v1", roles.master, description="better")
    assert changed.status_code == 200, changed.text
    assert changed.json() == {**made, "description": "better"}
    with day(instance, "2026-03-01"):
        later = api.put(f"{url}/v1", roles.developer, released_at="2026-04-01T10:00:00+02:00").json()
        assert (later["released_at"], later["upcoming_release"]) == ("2026-04-01T08:00:00.000Z", True)
    assert api.get(f"{url}/v1").json()["author"]["username"] == roles.developer.username
    assert api.put(f"{url}/v1", roles.developer, name=None).json()["name"] == "v1"
    assert api.put(f"{url}/v1", roles.developer, milestones=[]).status_code == 200
    assert api.put(f"{url}/v1", roles.developer, milestones=["x"]).status_code == 400
    assert api.put(f"{url}/v1", roles.developer, released_at="x").status_code == 400
    assert api.put(f"{url}/rel%2F2.0", roles.developer, name="x").status_code == 404


def test_order_and_the_latest_release(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/releases"
    assert api.get(f"/projects/{project.id}/releases/permalink/latest").status_code == 404
    for tag, released_at in (("a", "2026-02-01"), ("b", "2026-03-01T00:00:00Z"), ("c", "2026-01-01T00:00:00Z")):
        made = api.post(url, roles.developer, tag_name=tag, ref="master", released_at=released_at)
        assert made.status_code == 201, made.text
    assert tags(api.get(url)) == ["b", "a", "c"]
    assert tags(api.get(url, sort="asc")) == ["c", "a", "b"]
    assert tags(api.get(url, order_by="created_at")) == ["c", "b", "a"]
    assert tags(api.get(url, order_by="created_at", sort="asc", per_page=2)) == ["a", "b"]
    assert api.get(url, order_by="name").status_code == 400
    assert api.get(f"{url}/permalink/latest").json() == api.get(f"{url}/b").json()
    upcoming = api.post(url, roles.developer, tag_name="d", ref="master", released_at="9000-01-01T00:00:00Z")
    assert upcoming.status_code == 201, upcoming.text
    assert api.get(f"{url}/permalink/latest").json()["tag_name"] == "b", "a future release is not the latest"
    few = statements_of(make, lambda: api.get(url, per_page=1))
    assert statements_of(make, lambda: api.get(url, per_page=100)) <= few


def test_delete(api: Api, roles: UsersByRole, project: Project) -> None:
    """Deleting a release keeps its tag; deleting a tag deletes its release."""
    url = f"/projects/{project.id}/releases"
    shown = api.post(url, roles.developer, tag_name="v1").json()
    deleted = api.delete(f"/projects/{project.id}/releases/v1", roles.developer)
    assert (deleted.status_code, deleted.json()) == (200, shown)
    again = api.delete(f"/projects/{project.id}/releases/v1", roles.developer)
    assert (again.status_code, again.content) == (200, b"")
    assert api.get(f"/projects/{project.id}/repository/tags/v1").status_code == 200
    api.post(url, roles.developer, tag_name="v1", assets={"links": [{"name": "x", "url": "http://a/"}]})
    assert api.delete(f"/projects/{project.id}/repository/tags/v1", roles.master).status_code == 200
    assert api.get(f"{url}/v1").status_code == 404
    fresh = api.post(url, roles.developer, tag_name="v1", ref="master").json()
    assert fresh["assets"]["links"] == []


READ = {"private": 404, "internal": 404, "public": 200}
CALLERS: list[tuple[str, dict[str, int], int]] = [
    ("administrator", dict.fromkeys(READ, 200), 200),
    ("owner", dict.fromkeys(READ, 200), 200),
    ("master", dict.fromkeys(READ, 200), 200),
    ("developer", dict.fromkeys(READ, 200), 200),
    ("reporter", dict.fromkeys(READ, 200), 403),
    ("guest", {**dict.fromkeys(READ, 200), "private": 403}, 403),
    ("stranger", {**dict.fromkeys(READ, 200), "private": 404}, 403),
    ("nobody", READ, 401),
]


@pytest.mark.parametrize("visibility", list(READ))
def test_permissions(api: Api, make: Make, instance: Instance, roles: UsersByRole, visibility: str) -> None:
    project = project_with(make, roles, visibility=visibility)
    some_tags().fill(instance, project)
    url = f"/projects/{project.id}/releases"
    link = {"name": "x", "url": "http://example.org/x"}
    for who, read, write in CALLERS:
        expected = 404 if (who, visibility) == ("stranger", "private") else write
        api.post(url, make.root, tag_name="v1")
        links = f"{url}/v1/assets/links"
        there = api.post(links, make.root, name="there", url="http://example.org/there").json()["id"]
        person = roles[who]
        reads = [
            api.get(path, person) for path in (url, f"{url}/v1", f"{url}/permalink/latest", links, f"{links}/{there}")
        ]
        assert [answer.status_code for answer in reads] == [read[visibility]] * 5, who
        writes = [
            api.post(url, person, tag_name="rel/2.0"),
            api.put(f"{url}/v1", person, name="x"),
            api.post(links, person, **link),
            api.put(f"{links}/{there}", person, name="other"),
            api.delete(f"{links}/{there}", person),
            api.delete(f"{url}/v1", person),
        ]
        good = [201, 200, 201, 200, 200, 200]
        assert [answer.status_code for answer in writes] == (good if expected == 200 else [expected] * 6), who
        for tag in ("v1", "rel%2F2.0"):
            api.delete(f"{url}/{tag}", make.root)


def test_releases_of_a_protected_tag_require_its_permission(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/releases"
    api.post(f"/projects/{project.id}/protected_tags", roles.master, name="v*")
    assert api.post(url, roles.developer, tag_name="v1").status_code == 403
    assert api.post(url, roles.developer, tag_name="v9", ref="master").status_code == 403
    assert api.get(f"/projects/{project.id}/repository/tags/v9").status_code == 404
    assert api.post(url, roles.master, tag_name="v1").status_code == 201
    assert api.put(f"{url}/v1", roles.developer, name="x").status_code == 403
    assert api.post(f"{url}/v1/assets/links", roles.developer, name="x", url="http://a/").status_code == 403
    assert api.delete(f"{url}/v1", roles.developer).status_code == 403
    assert api.delete(f"{url}/v1", roles.master).status_code == 200
    assert api.post(url, roles.developer, tag_name="rel/2.0").status_code == 201


def test_concurrent_creation_makes_one_release(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/releases"
    with ThreadPoolExecutor(8) as pool:
        there = list(pool.map(lambda n: api.post(url, roles.developer, tag_name="v1", name=f"n{n}"), range(8)))
        new = list(pool.map(lambda n: api.post(url, roles.developer, tag_name=f"new{n % 3}", ref="master"), range(24)))
    assert sorted(answer.status_code for answer in there) == [201] + [409] * 7
    assert sorted(answer.status_code for answer in new) == [201] * 3 + [409] * 21
    assert sorted(tags(api.get(url))) == ["new0", "new1", "new2", "v1"]


def test_the_release_of_a_deleted_author_stays(api: Api, make: Make, project: Project) -> None:
    author = make.user()
    api.post(f"/projects/{project.id}/members", make.root, user_id=author.id, access_level=30)
    assert api.post(f"/projects/{project.id}/releases", author, tag_name="v1").status_code == 201
    assert api.delete(f"/users/{author.id}", make.root).status_code in (200, 204)
    shown = api.get(f"/projects/{project.id}/releases/v1").json()
    assert shown["author"]["username"] != author.username


def test_missing_tags_and_releases(api: Api, make: Make, project: Project) -> None:
    for name in ("nope", "%00", "%FF", "%2E%2E%2F", "a" * 2000):
        url = f"/projects/{project.id}/releases/{name}"
        assert api.get(url, make.root).status_code in (400, 404)
        assert api.put(url, make.root, name="x").status_code in (400, 404, 405)
        assert api.delete(url, make.root).status_code in (200, 400, 404, 405)
        assert api.get(f"{url}/assets/links", make.root).status_code in (400, 404)


def test_empty_and_archived_projects(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    empty = make_project(make, visibility="public")
    assert tags(api.get(f"/projects/{empty.id}/releases")) == []
    assert api.post(f"/projects/{empty.id}/releases", make.root, tag_name="x", ref="master").status_code == 400
    api.post(f"/projects/{project.id}/releases", roles.developer, tag_name="v1")
    assert api.post(f"/projects/{project.id}/archive", roles.owner).status_code == 201
    url = f"/projects/{project.id}/releases"
    assert tags(api.get(url)) == ["v1"]
    assert api.post(url, roles.owner, tag_name="rel/2.0").status_code == 403
    assert api.put(f"{url}/v1", roles.owner, name="x").status_code == 403
    assert api.delete(f"{url}/v1", roles.owner).status_code == 403
