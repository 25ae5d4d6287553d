"""Tags: lists, reading, creation, deletion, release notes and permissions."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, day, make_project, statements_of
from tests.git_history import History, repository_of, run
from tests.roles import UsersByRole, project_with

SHA1 = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a public project with a lightweight tag, an annotated one, and one whose name has a slash and dots."""
    project = project_with(make, roles, visibility="public")
    some_tags().fill(instance, project)
    return project


def some_tags() -> History:
    """Create ``v1.10``, ``v1.9`` which is annotated and the newest, and ``rel/2.0.x``."""
    history = History()
    first = history.commit(files={"README.md": "hello\n"}, message="Begin")
    second = history.commit("feature", files={"a": "1\n"}, parents=(first,))
    history.tag("v1.10", first)
    history.tag("rel/2.0.x", second)
    history.commit(files={"README.md": "more\n"}, parents=(first,))
    history.tag("v1.9", first, "Nine\n\nand more\n")
    return history


def names(answer: httpx.Response) -> list[str]:
    """Return the names in a list."""
    assert answer.status_code == 200, answer.text
    return [tag["name"] for tag in answer.json()]


def git(instance: Instance, project: Project, *args: str) -> str:
    """Return the output of git in the project's repository."""
    return run(repository_of(instance, project).path, *args)


def test_the_list_is_public_and_sorted_descending(api: Api, instance: Instance, project: Project) -> None:
    answer = api.get(f"/projects/{project.id}/repository/tags")
    assert names(answer) == ["v1.9", "v1.10", "rel/2.0.x"]
    assert answer.headers["x-total"] == "3"
    annotated, plain, _ = answer.json()
    first = git(instance, project, "rev-parse", "v1.10")
    assert (annotated["message"], annotated["commit"]["id"]) == ("Nine\n\nand more", first)
    assert annotated["target"] == git(instance, project, "rev-parse", "v1.9") != first
    assert annotated["created_at"].endswith("+02:00")
    assert (plain["message"], plain["target"], plain["created_at"]) == (None, first, None)
    assert (plain["release"], plain["protected"], plain["commit"]["title"]) == (None, False, "Begin")


def test_order_and_search(api: Api, project: Project) -> None:
    url = f"/projects/{project.id}/repository/tags"

    def found(**params: Any) -> list[str]:
        return names(api.get(url, **params))

    assert found(order_by="name", sort="asc") == ["rel/2.0.x", "v1.10", "v1.9"]
    assert found(order_by="updated") == ["v1.9", "rel/2.0.x", "v1.10"]
    assert found(order_by="updated", sort="asc") == ["v1.10", "rel/2.0.x", "v1.9"]
    assert found(order_by="version") == ["v1.10", "v1.9", "rel/2.0.x"]
    assert found(order_by="version", sort="asc") == ["rel/2.0.x", "v1.9", "v1.10"]
    assert found(search="V1") == ["v1.9", "v1.10"]
    assert found(search="^rel") == found(search="x$") == ["rel/2.0.x"]
    assert found(per_page=1, page=2) == ["v1.10"]
    assert api.get(url, order_by="colour").status_code == 400
    assert api.get(url, sort="up").status_code == 400


def test_single_tag(api: Api, project: Project) -> None:
    url = f"/projects/{project.id}/repository/tags"
    for tag in api.get(url).json():
        assert api.get(f"{url}/{quote(tag['name'], safe='')}").json() == tag
    missing = api.get(f"/projects/{project.id}/repository/tags/nope")
    assert (missing.status_code, missing.json()["message"]) == (404, "404 Tag Not Found")
    for name in ("master", "refs%2Ftags%2Fv1.9", "tags%2Fv1.9", "rel", "%00", "%FF", "..%2Fheads%2Fmaster", "a" * 4000):
        assert api.get(f"{url}/{name}").status_code in (400, 404), name


READ = {"private": 404, "internal": 404, "public": 200}
CALLERS: list[tuple[str, dict[str, int], int, int]] = [
    # Caller, then reading by visibility, creating, and deleting.
    ("administrator", dict.fromkeys(READ, 200), 201, 200),
    ("owner", dict.fromkeys(READ, 200), 201, 200),
    ("master", dict.fromkeys(READ, 200), 201, 200),
    ("developer", dict.fromkeys(READ, 200), 201, 403),  # Deleting requires permission to change.
    ("reporter", dict.fromkeys(READ, 200), 403, 403),
    ("guest", {**dict.fromkeys(READ, 200), "private": 403}, 403, 403),
    ("stranger", {**dict.fromkeys(READ, 200), "private": 404}, 403, 403),
    ("nobody", READ, 401, 401),
]


@pytest.mark.parametrize("visibility", list(READ))
def test_permissions(api: Api, make: Make, instance: Instance, roles: UsersByRole, visibility: str) -> None:
    project = project_with(make, roles, visibility=visibility)
    some_tags().fill(instance, project)
    url = f"/projects/{project.id}/repository/tags"
    for who, read, *writes in CALLERS:
        made, deleted = [404, 404] if (who, visibility) == ("stranger", "private") else writes
        person = roles[who]
        assert api.get(url, person).status_code == read[visibility], who
        assert api.get(f"{url}/v1.9", person).status_code == read[visibility], who
        assert api.post(url, person, tag_name=who, ref="master").status_code == made, who
        there = who if made == 201 else "v1.9"
        told = [getattr(api, verb)(f"{url}/{there}/release", person, description="x") for verb in ("post", "put")]
        assert [answer.status_code for answer in told] == ([201, 200] if made == 201 else [made] * 2), who
        assert api.delete(f"{url}/{there}", person).status_code == deleted, who


def test_a_lightweight_tag(api: Api, instance: Instance, roles: UsersByRole, project: Project) -> None:
    made = api.post(f"/projects/{project.id}/repository/tags", roles.developer, tag_name="neu/ü.1", ref="feature")
    assert made.status_code == 201, made.text
    shown = made.json()
    tip = git(instance, project, "rev-parse", "feature")
    assert (shown["name"], shown["target"], shown["commit"]["id"], shown["message"]) == ("neu/ü.1", tip, tip, None)
    assert git(instance, project, "cat-file", "-t", "refs/tags/neu/ü.1") == "commit"
    assert api.get(f"/projects/{project.id}/repository/tags/neu%2F%C3%BC.1").json() == shown
    blank = api.post(
        f"/projects/{project.id}/repository/tags", roles.developer, tag_name="blank", ref="v1.9", message=" "
    )
    assert blank.json()["message"] is None
    assert blank.json()["target"] == git(instance, project, "rev-parse", "v1.9^{commit}")


def test_an_annotated_tag_names_its_creator(api: Api, make: Make, instance: Instance, project: Project) -> None:
    """git shows the sent message and finds no error."""
    maker = make.user(name="Ann <b> O'\\Neill\t.", username=make.name("ann"))
    api.post(f"/projects/{project.id}/members", make.root, user_id=maker.id, access_level=30)
    with day(instance, "2026-02-03"):
        made = api.post(
            f"/projects/{project.id}/repository/tags",
            maker,
            tag_name="annotated",
            ref="feature",
            message="  Große Töne\r\n\n-----BEGIN\n\n",
        )
    assert made.status_code == 201, made.text
    shown = made.json()
    assert (shown["message"], shown["created_at"]) == ("Große Töne\r\n\n-----BEGIN", "2026-02-03T12:00:00.000+00:00")
    assert shown["target"] == git(instance, project, "rev-parse", "annotated")
    assert shown["commit"]["id"] == git(instance, project, "rev-parse", "feature")
    raw = git(instance, project, "cat-file", "tag", "annotated").split("\n")
    tip = git(instance, project, "rev-parse", "feature")
    assert raw[:3] == [f"object {tip}", "type commit", "tag annotated"]
    assert raw[3].endswith(f"<{maker.email}> 1770120000 +0000")
    assert "<" not in raw[3].split(" <")[0]
    assert "error" not in git(instance, project, "fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize(
    "name",
    ["-d", "--help", "a b", SHA1, f"{SHA1}/x", "refs/tags/x", "heads/x", "HEAD", "@", "x.lock", "a..b", ":x", "a*",
     "x" * 300, "", ".a", "a/"],
)  # fmt: skip
def test_invalid_tag_names_are_rejected(api: Api, make: Make, roles: UsersByRole, project: Project, name: str) -> None:
    for person in (roles.developer, make.root):
        refused = api.post(f"/projects/{project.id}/repository/tags", person, tag_name=name, ref="master", message="m")
        assert (refused.status_code, refused.json()["message"]) == (400, "Tag name invalid")


def test_invalid_tags_are_rejected(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/repository/tags"
    for tag_name, ref, message in (
        ("v1.9", "master", "Tag v1.9 already exists"),
        ("x", "nope", "Target nope is invalid"),
        ("x", "--output=/tmp/pwn", "Target --output=/tmp/pwn is invalid"),
        ("x", "master~99", "Target master~99 is invalid"),
        ("x", "", "Target  is invalid"),
    ):
        refused = api.post(url, roles.developer, tag_name=tag_name, ref=ref)
        assert (refused.status_code, refused.json()["message"]) == (400, message)
    assert api.post(url, roles.developer, tag_name="v1.9/below", ref="master").status_code == 400
    for missing in ("tag_name", "ref"):
        refused = api.post(url, roles.developer, **{"tag_name": "x", "ref": "master", missing: None})
        assert refused.json()["message"] == f'400 (Bad request) "{missing}" not given'
    for wrong in ({"tag_name": ["x"]}, {"ref": {"a": 1}}, {"message": ["x"]}, {"message": "x" * 1_000_001}):
        assert api.post(url, roles.developer, **{"tag_name": "x", "ref": "master", **wrong}).status_code == 400
    assert len(api.get(url).json()) == 3


def test_protected_tags(api: Api, roles: UsersByRole, project: Project) -> None:
    """Created only with the permission of the rule, and never moved or deleted."""
    url = f"/projects/{project.id}/repository/tags"
    api.post(f"/projects/{project.id}/protected_tags", roles.master, name="v*")
    refused = api.post(url, roles.developer, tag_name="v3", ref="master")
    assert refused.status_code == 403
    assert "create this tag as it is protected" in refused.json()["message"]
    assert api.post(url, roles.developer, tag_name="w3", ref="master").json()["protected"] is False
    assert api.post(url, roles.master, tag_name="v3", ref="master").json()["protected"] is True
    assert [tag["protected"] for tag in api.get(url).json()] == [False, True, True, True, False]
    assert api.post(f"{url}/v3/release", roles.developer, description="x").status_code == 403
    assert api.post(f"{url}/v3/release", roles.master, description="x").status_code == 201
    assert api.put(f"{url}/v3/release", roles.developer, description="y").status_code == 403
    assert api.delete(f"{url}/v3", roles.developer).status_code == 403
    for person in (roles.master, roles.owner, roles["administrator"]):
        refused = api.delete(f"{url}/v3", person)
        assert (refused.status_code, refused.json()["message"]) == (
            403,
            "403 Forbidden - Protected tags cannot be deleted.",
        )
    api.delete(f"/projects/{project.id}/protected_tags/v*", roles.master)
    assert api.delete(f"{url}/v3", roles.master).status_code == 200
    api.post(f"/projects/{project.id}/protected_tags", roles.master, name="never", create_access_level=0)
    assert api.post(url, roles.owner, tag_name="never", ref="master").status_code == 403


def test_delete(api: Api, instance: Instance, roles: UsersByRole, project: Project) -> None:
    """A deleted tag is gone at once, a second deletion gets 404, and a branch of the same name stays."""
    url = f"/projects/{project.id}/repository/tags"
    git(instance, project, "update-ref", "refs/heads/v1.9", "refs/heads/master")
    for name in ("v1.9", "rel%2F2.0.x"):
        for _ in range(2):
            assert api.delete(f"{url}/{name}", roles.master).status_code == 200
    assert names(api.get(url)) == ["v1.10"]
    assert git(instance, project, "rev-parse", "refs/heads/v1.9") == git(instance, project, "rev-parse", "master")
    for odd in ("%00", "%FF", "..%2Fheads%2Fmaster", "nope"):
        assert api.delete(f"{url}/{odd}", roles.master).status_code in (200, 400, 404)


def test_release_notes_of_a_tag(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/repository/tags"
    told = api.post(
        f"/projects/{project.id}/repository/tags/rel%2F2.0.x/release", roles.developer, description="**Two**"
    )
    assert (told.status_code, told.json()) == (201, {"tag_name": "rel/2.0.x", "description": "**Two**"})
    again = api.post(f"{url}/rel%2F2.0.x/release", roles.developer, description="x")
    assert (again.status_code, again.json()["message"]) == (409, "Release already exists")
    changed = api.put(f"/projects/{project.id}/repository/tags/rel%2F2.0.x/release", roles.developer, description="3")
    assert (changed.status_code, changed.json()["description"]) == (200, "3")
    assert api.get(f"{url}/rel%2F2.0.x").json()["release"] == {"tag_name": "rel/2.0.x", "description": "3"}
    assert [bool(tag["release"]) for tag in api.get(url).json()] == [False, False, True]
    none = api.put(f"{url}/v1.9/release", roles.developer, description="x")
    assert (none.status_code, none.json()["message"]) == (404, "Release does not exist")
    for verb in (api.post, api.put):
        missing = verb(f"{url}/nope/release", roles.developer, description="x")
        assert (missing.status_code, missing.json()["message"]) == (404, "Tag does not exist")
        bare = verb(f"{url}/v1.9/release", roles.developer)
        assert bare.json()["message"] == '400 (Bad request) "description" not given'


def test_deleting_a_tag_deletes_its_release_notes(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/repository/tags"
    sent = {"tag_name": "v2", "ref": "master", "release_description": "Second"}
    assert api.post(url, roles.master, **sent).json()["release"] == {"tag_name": "v2", "description": "Second"}
    assert api.delete(f"{url}/v2", roles.master).status_code == 200
    assert api.get(f"/projects/{project.id}/releases/v2").status_code == 404
    assert api.post(url, roles.master, tag_name="v2", ref="master").json()["release"] is None


def test_concurrent_creation_makes_one_tag(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/repository/tags"

    def create(ref: str) -> tuple[int, str]:
        answer = api.post(url, roles.developer, tag_name="race", ref=ref, message=f"from {ref}")
        return answer.status_code, answer.json()["message"]

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(create, ["master", "feature", "v1.9", "v1.10"]))
    (winner,) = (said for status, said in outcomes if status == 201)
    assert sorted(outcome for outcome in outcomes if outcome[0] != 201) == [(400, "Tag race already exists")] * 3
    assert api.get(f"{url}/race").json()["message"] == winner


def test_concurrent_deletion(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/repository/tags"
    for name in ("v1.9", "v1.10"):
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _, name=name: api.delete(f"{url}/{name}", roles.master), range(8)))
        assert [(answer.status_code, answer.content) for answer in answers] == [(200, b"")] * 8
    assert names(api.get(url)) == ["rel/2.0.x"]


def test_statement_count_does_not_grow_with_the_page(api: Api, make: Make, instance: Instance) -> None:
    project = make_project(make, visibility="public")
    history = History()
    first = history.commit(files={"a": "1"})
    for number in range(100):
        history.tag(f"t{number:03}", first, f"Tag {number}" if number % 2 else None)
    history.fill(instance, project)
    url = f"/projects/{project.id}/repository/tags"
    assert names(api.get(url, per_page=3)) == ["t099", "t098", "t097"]
    few = statements_of(make, lambda: api.get(url, per_page=1))
    assert statements_of(make, lambda: api.get(url, per_page=100)) == few


def test_tags_of_other_objects(api: Api, instance: Instance, project: Project) -> None:
    """Tags of a file, a tree or another tag are listed."""
    for name, target in (("file", "HEAD:README.md"), ("tree", "HEAD^{tree}"), ("again", "v1.9")):
        git(instance, project, "update-ref", f"refs/tags/{name}", git(instance, project, "rev-parse", target))
    git(instance, project, "-c", "user.name=x", "-c", "user.email=x@x", "tag", "-a", "-m", "Outer", "outer", "v1.9")
    url = f"/projects/{project.id}/repository/tags"
    for order in ("name", "updated", "version"):
        shown = {tag["name"]: tag for tag in api.get(url, order_by=order).json()}
        assert shown["file"]["commit"] is shown["tree"]["commit"] is None
        assert shown["again"]["commit"] == shown["outer"]["commit"] == shown["v1.9"]["commit"]
        assert shown["outer"]["message"] == "Outer"
    assert api.get(f"{url}/file").json()["target"] == git(instance, project, "rev-parse", "HEAD:README.md")


def test_empty_and_archived_projects(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    empty = make_project(make, visibility="public")
    assert names(api.get(f"/projects/{empty.id}/repository/tags", order_by="updated")) == []
    assert api.get(f"/projects/{empty.id}/repository/tags/x").status_code == 404
    assert api.post(f"/projects/{empty.id}/repository/tags", make.root, tag_name="x", ref="master").status_code == 400
    assert api.post(f"/projects/{project.id}/archive", roles.owner).status_code == 201
    url = f"/projects/{project.id}/repository/tags"
    assert len(names(api.get(url))) == 3
    assert api.post(url, roles.owner, tag_name="x", ref="master").status_code == 403
    assert api.delete(f"{url}/v1.9", roles.owner).status_code == 403
    assert api.post(f"{url}/v1.9/release", roles.owner, description="x").status_code == 403
