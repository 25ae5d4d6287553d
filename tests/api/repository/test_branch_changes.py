"""Creation and deletion of branches, their names, and protection."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project
from tests.git_history import History, repository_of, run
from tests.roles import UsersByRole, project_with

SHA1 = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a private project with a merged branch, an unmerged one, and two tags."""
    project = project_with(make, roles)
    history = History()
    first = history.commit(files={"README.md": "hello\n"}, message="Begin")
    history.commit("feature", files={"a": "1\n"}, parents=(first,))
    merged = history.commit("merged", files={"m": "1\n"}, parents=(first,))
    history.commit(files={"m": "1\n"}, message="Merge", parents=(first, merged))
    history.tag("light", first)
    history.tag("v1.0", 2, "One")
    history.fill(instance, project)
    return project


def tip(instance: Instance, project: Project, name: str) -> str:
    """Return the commit that git finds by a name."""
    return run(repository_of(instance, project).path, "rev-parse", f"{name}^{{commit}}")


def branches(api: Api, make: Make, project: Project) -> set[str]:
    """Return all branches."""
    shown = api.get(f"/projects/{project.id}/repository/branches", make.root, per_page=100).json()
    return {branch["name"] for branch in shown}


def test_empty_repository_gets_an_initial_commit(api: Api, make: Make, roles: UsersByRole) -> None:
    """GitLab 9.4 adds an empty README.md to the default branch before it creates the first branch."""
    project = project_with(make, roles)
    url = f"/projects/{project.id}/repository/branches"
    assert api.post(url, roles.reporter, branch="x", ref="master").status_code == 403
    assert api.post(url, roles.master, branch="not..valid", ref="master").status_code == 400
    assert branches(api, make, project) == set()
    made = api.post(url, roles.master, branch="x", ref="master")
    assert (made.status_code, made.json()["commit"]["message"]) == (201, "Add README.md")
    assert branches(api, make, project) == {"master", "x"}
    assert api.get(f"{url}/master", roles.master).json()["commit"] == made.json()["commit"]
    file = api.get(f"/projects/{project.id}/repository/files/README.md", roles.master, ref="x").json()
    assert (file["size"], file["content"]) == (0, "")
    assert api.get(f"/projects/{project.id}", roles.master).json()["empty_repo"] is False
    pushed = [event["push_data"]["ref"] for event in api.get(f"/projects/{project.id}/events", make.root).json()[:2]]
    assert pushed == ["x", "master"]
    commits = api.get(f"/projects/{project.id}/repository/commits", roles.master, ref_name="x").json()
    assert [commit["author_email"] for commit in commits] == [roles.master.email]


def test_first_branches_at_once(api: Api, make: Make, roles: UsersByRole) -> None:
    """Concurrent requests share one initial commit."""
    project = project_with(make, roles)
    url = f"/projects/{project.id}/repository/branches"
    names = [f"b{number}" for number in range(6)]
    with ThreadPoolExecutor(len(names)) as pool:
        made = list(pool.map(lambda name: api.post(url, roles.master, branch=name, ref="master"), names))
    assert [answer.status_code for answer in made] == [201] * len(names)
    assert len({answer.json()["commit"]["id"] for answer in made}) == 1
    assert branches(api, make, project) == {"master", *names}


def test_from_a_branch_a_tag_and_commits(api: Api, instance: Instance, roles: UsersByRole, project: Project) -> None:
    first = tip(instance, project, "light")
    sources = {
        "feature": tip(instance, project, "refs/heads/feature"),
        "light": first,
        "v1.0": tip(instance, project, "v1.0"),
        first: first,
        first.upper(): first,
        first[:8]: first,
        first[:12]: first,
        "refs/heads/feature": tip(instance, project, "feature"),
        "refs/tags/v1.0": tip(instance, project, "v1.0"),
        "HEAD": tip(instance, project, "master"),
    }
    for number, (ref, expected) in enumerate(sources.items()):
        made = api.post(
            f"/projects/{project.id}/repository/branches", roles.developer, branch=f"from-{number}", ref=ref
        )
        assert made.status_code == 201, made.text
        assert made.json()["commit"]["id"] == expected, ref
        assert tip(instance, project, f"refs/heads/from-{number}") == expected


@pytest.mark.parametrize(
    "ref",
    ["nope", "f" * 40, "fffffff", "", "master~99", "master^9", "..", "a..b", "--output=/tmp/pwn", "-x", "@{-1}", ":/x",
     "HEAD:README.md", "refs/", "heads/master", "master:README.md", "x" * 100_000, "ü\ud7ff"],
)  # fmt: skip
def test_invalid_start_refs_are_rejected(api: Api, make: Make, roles: UsersByRole, project: Project, ref: str) -> None:
    """Attack: a ref that looks like an option, a range or an expression is a missing name."""
    before = branches(api, make, project)
    refused = api.post(f"/projects/{project.id}/repository/branches", roles.developer, branch="x", ref=ref)
    assert (refused.status_code, refused.json()["message"]) == (400, "Invalid reference name")
    assert branches(api, make, project) == before
    assert not Path("/tmp/pwn").exists()


def test_a_tree_or_file_is_no_start_point(api: Api, instance: Instance, roles: UsersByRole, project: Project) -> None:
    for thing in ("HEAD^{tree}", "HEAD:README.md"):
        oid = run(repository_of(instance, project).path, "rev-parse", thing)
        refused = api.post(f"/projects/{project.id}/repository/branches", roles.developer, branch="x", ref=oid)
        assert refused.status_code == 400


@pytest.mark.parametrize(
    "name",
    ["-x", "--help", "-d", "a b", SHA1, SHA1.upper(), "f" * 64, f"{SHA1}/x", "refs/heads/x", "refs/x", "heads/x",
     "HEAD", "@", "x.lock", "x.lock/y", "a..b", ":x", "+dev:master", "a^b", "a~1", "a?", "a*", "a[b", "a\\b", "/a",
     "a/", "a//b", ".a", "a.", "a/.b", "@{x", "a\tb", "a\nb", "x" * 300, "a/" * 600 + "b", "ü" * 126, ""],
)  # fmt: skip
def test_names_that_no_branch_can_have(api: Api, make: Make, roles: UsersByRole, project: Project, name: str) -> None:
    """Names that git forbids, and names that read as a flag, a commit id or another spelling of a ref."""
    before = branches(api, make, project)
    for person in (roles.developer, roles.owner, make.root):
        refused = api.post(f"/projects/{project.id}/repository/branches", person, branch=name, ref="master")
        assert refused.status_code == 400, refused.text
        assert refused.json()["message"] == "Branch name is invalid"
    assert branches(api, make, project) == before


@pytest.mark.parametrize("sent", [{"branch": "a\0b"}, {"branch": ["x"]}, {"branch": {"x": 1}}, {"ref": ["master"]}])
def test_names_of_wrong_types(api: Api, roles: UsersByRole, project: Project, sent: dict[str, object]) -> None:
    whole = {"branch": "x", "ref": "master", **sent}
    refused = api.post(f"/projects/{project.id}/repository/branches", roles.developer, **whole)
    assert refused.json() == {"message": {next(iter(sent)): ["is invalid"]}}


@pytest.mark.parametrize("missing", ["branch", "ref"])
def test_both_parameters_are_required(api: Api, roles: UsersByRole, project: Project, missing: str) -> None:
    sent = {"branch": "x", "ref": "master"}
    del sent[missing]
    refused = api.post(f"/projects/{project.id}/repository/branches", roles.developer, **sent)
    assert (refused.status_code, refused.json()["message"]) == (400, f'400 (Bad request) "{missing}" not given')


@pytest.mark.parametrize(
    "name",
    [f"{SHA1}-foo", f"x/{SHA1}", SHA1[:39], "neu/ü", "日本/語", "a.b", "feature-#1", "x@y", "$(id)", "a'b\"c", "%2e%2e",
     "x" * 250, "tags/v1", "1"],
)  # fmt: skip
def test_unusual_names_work(api: Api, instance: Instance, roles: UsersByRole, project: Project, name: str) -> None:
    """A new branch can be read at once by its name, and is gone at once after its deletion."""
    url = f"/projects/{project.id}/repository/branches"
    made = api.post(url, roles.developer, branch=name, ref="feature")
    assert made.status_code == 201, made.text
    assert made.json()["name"] == name
    one = api.get(f"{url}/{quote(name, safe='')}", roles.developer)
    assert one.json() == made.json()
    assert tip(instance, project, f"refs/heads/{name}") == one.json()["commit"]["id"]
    for _ in range(2):
        assert api.delete(f"{url}/{quote(name, safe='')}", roles.developer).status_code == 200
    assert api.get(f"{url}/{quote(name, safe='')}", roles.developer).status_code == 404


def test_an_existing_branch_is_not_replaced(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/repository/branches"
    again = api.post(url, roles.developer, branch="feature", ref="master")
    assert (again.status_code, again.json()["message"]) == (400, "Branch already exists")
    below = api.post(url, roles.developer, branch="feature/x", ref="master")
    beside = "'feature/x' cannot exist beside the branch 'feature'"
    assert (below.status_code, below.json()["message"]) == (400, beside)
    assert api.post(url, roles.developer, branch="it's/up/do'wn", ref="master").status_code == 201
    for name in ("it's", "it's/up"):
        above = api.post(url, roles.developer, branch=name, ref="master")
        beside = f"'{name}' cannot exist beside the branch 'it's/up/do'wn'"
        assert (above.status_code, above.json()["message"]) == (400, beside)
    tagged = f"/projects/{project.id}/repository/tags"
    assert api.post(tagged, roles.developer, tag_name="feature/x", ref="master").status_code == 201
    clash = api.post(tagged, roles.developer, tag_name="feature", ref="master")
    assert clash.json()["message"] == "'feature' cannot exist beside the tag 'feature/x'"


def test_a_branch_and_a_tag_of_one_name_are_distinct(
    api: Api, instance: Instance, roles: UsersByRole, project: Project
) -> None:
    """Attack: a tag named like a branch replaces it."""
    first, feature = tip(instance, project, "light"), tip(instance, project, "refs/heads/feature")
    run(repository_of(instance, project).path, "update-ref", "refs/tags/feature", first)
    url = f"/projects/{project.id}/repository/branches"
    assert api.get(f"{url}/feature", roles.developer).json()["commit"]["id"] == feature
    made = api.post(url, roles.developer, branch="copy", ref="feature").json()
    assert made["commit"]["id"] == feature
    assert api.get(f"{url}/light", roles.developer).status_code == 404
    assert api.delete(f"{url}/feature", roles.developer).status_code == 200
    assert tip(instance, project, "refs/tags/feature") == first


def test_concurrent_creation_makes_one_branch(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/repository/branches"

    def make_it(ref: str) -> tuple[int, str]:
        answer = api.post(url, roles.developer, branch="race", ref=ref)
        return answer.status_code, answer.json().get("message") or answer.json()["commit"]["id"]

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(make_it, ["master", "feature", "merged", "light"]))
    (winner,) = (said for status, said in outcomes if status == 201)
    assert sorted(outcome for outcome in outcomes if outcome[0] != 201) == [(400, "Branch already exists")] * 3
    assert api.get(f"{url}/race", roles.developer).json()["commit"]["id"] == winner


def test_concurrent_deletion(api: Api, roles: UsersByRole, project: Project) -> None:
    """Later calls also succeed or get 404."""
    url = f"/projects/{project.id}/repository/branches"
    for _ in range(3):
        assert api.post(url, roles.developer, branch="race", ref="feature").status_code == 201
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: api.delete(f"{url}/race", roles.developer), range(8)))
        assert [(answer.status_code, answer.content) for answer in answers] == [(200, b"")] * 8
        assert api.get(f"{url}/race", roles.developer).status_code == 404


def test_developers_cannot_bypass_protection(
    api: Api, make: Make, instance: Instance, roles: UsersByRole, project: Project
) -> None:
    """Developers neither create nor delete protected branches, including names with slashes."""
    url = f"/projects/{project.id}/repository/branches"
    for name in ("a/b", "wild/*"):
        assert api.post(f"/projects/{project.id}/protected_branches", roles.master, name=name).status_code == 201
    for name in ("a/b", "wild/x", "wild/x/y"):
        refused = api.post(url, roles.developer, branch=name, ref="master")
        assert refused.status_code == 403, refused.text
        assert "not allowed to push code to protected branches" in refused.json()["message"]
        assert api.post(url, roles.master, branch=name, ref="master").status_code == 201
        before = tip(instance, project, f"refs/heads/{name}")
        denied = api.delete(f"{url}/{quote(name, safe='')}", roles.developer)
        assert denied.status_code == 403
        assert "delete protected branches" in denied.json()["message"]
        assert tip(instance, project, f"refs/heads/{name}") == before
        assert api.delete(f"{url}/{quote(name, safe='')}", roles.master).status_code == 200
    assert not {"a/b", "wild/x", "wild/x/y"} & branches(api, make, project)


def test_developers_with_push_access_create_a_protected_branch_but_do_not_delete_it(
    api: Api, roles: UsersByRole, project: Project
) -> None:
    url = f"/projects/{project.id}/repository/branches"
    assert api.put(f"{url}/feature/protect", roles.master, developers_can_push=True).status_code == 200
    assert api.delete(f"{url}/feature", roles.developer).status_code == 403
    assert api.delete(f"{url}/feature", roles.owner).status_code == 200
    assert api.post(url, roles.developer, branch="feature", ref="master").status_code == 201


def test_the_default_branch_cannot_be_deleted(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/repository/branches"
    for person in (roles.developer, roles.owner, make.root):
        refused = api.delete(f"{url}/master", person)
        said = (refused.status_code, refused.json()["message"])
        assert said == (400, "The default branch of a project cannot be deleted.")
    assert api.put(f"{url}/master/unprotect", roles.master).status_code == 200
    assert api.delete(f"{url}/master", roles.owner).status_code == 400


def test_merged_branches_are_deleted(
    api: Api, make: Make, instance: Instance, roles: UsersByRole, project: Project
) -> None:
    """Branches that the default one contains go; protected ones and the others stay, and so do tags."""
    url = f"/projects/{project.id}/repository/branches"
    first = tip(instance, project, "light")
    for name in ("kept", "wild/1", "old", "same"):
        ref = "master" if name == "same" else first
        assert api.post(url, roles.developer, branch=name, ref=ref).status_code == 201
    api.put(f"{url}/kept/protect", roles.master)
    api.post(f"/projects/{project.id}/protected_branches", roles.master, name="wild/*")
    for _ in range(2):
        swept = api.delete(f"/projects/{project.id}/repository/merged_branches", roles.developer)
        assert (swept.status_code, swept.content) == (200, b"")
        left = branches(api, make, project)
        assert left == {"master", "feature", "kept", "wild/1", "same"}
    assert tip(instance, project, "refs/tags/light") == first


def test_an_archived_project_is_read_only(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    before = branches(api, make, project)
    assert api.post(f"/projects/{project.id}/archive", roles.owner).status_code == 201
    url = f"/projects/{project.id}/repository/branches"
    for person in (roles.developer, roles.owner, make.root):
        assert api.get(f"{url}/merged", person).status_code == 200
        assert api.post(url, person, branch="x", ref="master").status_code == 403
        assert api.delete(f"{url}/merged", person).status_code == 403
        assert api.put(f"{url}/merged/protect", person).status_code == 403
        assert api.delete(f"/projects/{project.id}/repository/merged_branches", person).status_code == 403
    assert branches(api, make, project) == before
