"""Single commits: by id, branch or tag, with statistics, refs, signature and sequence."""

from pathlib import Path
from urllib.parse import quote

import pytest

from tests.api.repository.branched_repository import BranchedRepository
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History, repository_of, run


@pytest.fixture(scope="module")
def branched(instance: Instance, make: Make) -> BranchedRepository:
    """Return a public project."""
    return BranchedRepository(instance, make_project(make, visibility="public"))


def test_every_kind_of_ref(api: Api, make: Make, branched: BranchedRepository) -> None:
    """The full id, a short one, a branch and a tag, annotated or not."""
    names = {
        branched.merge: branched.merge,
        branched.merge.upper(): branched.merge,
        branched.merge[:7]: branched.merge,
        "v1": branched.merge,
        "v2": branched.ahead,
        "side/ünï": branched.side,
        "master": branched.last,
        "HEAD": branched.last,
    }
    for name, oid in names.items():
        answer = api.get(f"/projects/{branched.project.id}/repository/commits/{quote(name, safe='')}", make.root)
        assert answer.status_code == 200, name
        assert answer.json()["id"] == oid, name


def test_commit_fields(api: Api, make: Make, branched: BranchedRepository) -> None:
    """The fields of lists, statistics, and a null status."""
    shown = api.get(f"/projects/{branched.project.id}/repository/commits/{branched.last}", make.root).json()
    assert shown["title"] == "Last"
    assert shown["stats"] == {"additions": 0, "deletions": 1, "total": 1}
    assert shown["status"] is None
    assert shown["last_pipeline"] is None
    assert shown["project_id"] == branched.project.id
    listed = api.get(f"/projects/{branched.project.id}/repository/commits", make.root).json()[0]
    assert {name: shown[name] for name in listed} == listed


def test_without_statistics(api: Api, make: Make, branched: BranchedRepository) -> None:
    """They are omitted on request."""
    url = f"/projects/{branched.project.id}/repository/commits/{branched.last}"
    assert "stats" not in api.get(url, make.root, stats="false").json()


def test_a_merge_is_counted_against_its_first_parent(api: Api, make: Make, branched: BranchedRepository) -> None:
    """The changes of the other side."""
    shown = api.get(f"/projects/{branched.project.id}/repository/commits/{branched.merge}", make.root).json()
    assert shown["stats"] == {"additions": 1, "deletions": 0, "total": 1}
    assert shown["parent_ids"] == [branched.main, branched.side]


UNKNOWN = [
    "nope",
    "f" * 40,
    "fffffff",
    "--output=%2Ftmp%2Fpwned-by-a-sha",
    "-x",
    "master..ahead",
    "master%5E9",
    "master:a.txt",
    "..%2F..%2Fx",
    "x" * 5000,
    "%F0%9F%A6%8A",
]


@pytest.mark.parametrize("name", UNKNOWN)
def test_refs_without_a_commit(api: Api, make: Make, branched: BranchedRepository, name: str) -> None:
    """They are not found, on every endpoint."""
    for question in ("", "/diff", "/refs", "/signature", "/sequence"):
        answer = api.get(f"/projects/{branched.project.id}/repository/commits/{name}{question}", make.root)
        assert (answer.status_code, answer.json()) == (404, {"message": "404 Commit Not Found"})
    assert not Path("/tmp/pwned-by-a-sha").exists()


def test_files_and_trees_are_not_commits(api: Api, make: Make, branched: BranchedRepository) -> None:
    """Their ids are rejected."""
    for name in ("master:a.txt", "master^{tree}"):
        oid = run(branched.repository.path, "rev-parse", name)
        assert api.get(f"/projects/{branched.project.id}/repository/commits/{oid}", make.root).status_code == 404


def test_an_empty_repository(api: Api, make: Make) -> None:
    """Every lookup gets 404."""
    project = make_project(make)
    for name in ("master", "HEAD", "0" * 40):
        assert api.get(f"/projects/{project.id}/repository/commits/{name}", make.root).status_code == 404


def test_messages_and_names_in_other_encodings(instance: Instance, api: Api, make: Make) -> None:
    """They are decoded without errors."""
    project = make_project(make)
    made = History()
    made.commit(files={"a": "1"}, message="Gr\xfc\xdfe\n".encode("latin-1"), author="J\xfcrgen <j@example.org>")
    made.commit("blank", {"a": "1"}, "", parents=())
    made.commit("late", {"a": "1"}, "\n  \n\t\n  Late words \n\nmore\n", parents=())
    made.fill(instance, project)
    shown = api.get(f"/projects/{project.id}/repository/commits/master", make.root).json()
    assert (shown["title"], shown["author_name"]) == ("Grüße", "Jürgen")
    for name, title in {"blank": "--no commit message", "late": "  Late words"}.items():
        assert api.get(f"/projects/{project.id}/repository/commits/{name}", make.root).json()["title"] == title


def test_refs_that_contain_a_commit(api: Api, make: Make, branched: BranchedRepository) -> None:
    """Branches and tags, or one of both."""
    url = f"/projects/{branched.project.id}/repository/commits/{branched.merge}/refs"
    branches = [{"type": "branch", "name": name} for name in ("ahead", "master")]
    tags = [{"type": "tag", "name": name} for name in ("v1", "v2")]
    assert api.get(url, make.root).json() == branches + tags
    assert api.get(url, make.root, type="branch").json() == branches
    assert api.get(url, make.root, type="tag").json() == tags
    page = api.get(url, make.root, type="all", per_page=1, page=2)
    assert (page.json(), page.headers["x-total"]) == (branches[1:], "4")
    side = api.get(f"/projects/{branched.project.id}/repository/commits/{branched.side}/refs", make.root, type="branch")
    assert [ref["name"] for ref in side.json()] == ["ahead", "master", "side/ünï"]
    assert api.get(url, make.root, type="none").status_code == 400


def test_commit_without_merge_requests(api: Api, make: Make, branched: BranchedRepository) -> None:
    """The list is empty."""
    url = f"/projects/{branched.project.id}/repository/commits"
    for name in (branched.first, branched.last[:10], "master"):
        answer = api.get(f"/projects/{branched.project.id}/repository/commits/{name}/merge_requests", make.root)
        assert (answer.status_code, answer.json(), answer.headers["x-total"]) == (200, [], "0")
    for name in ("nope", "0" * 40, "--output=x"):
        unknown = api.get(f"{url}/{name}/merge_requests", make.root)
        assert (unknown.status_code, unknown.json()) == (404, {"message": "404 Commit Not Found"})
    assert api.get(f"{url}/master/merge_requests").status_code == 401


@pytest.mark.parametrize(
    ("at", "shown"),
    [(253402300799, "9999-12-31T23:59:59.000+00:00"), (2**53, "9999-12-31T23:59:59.999+00:00")],
)
def test_times_beyond_the_calendar(instance: Instance, api: Api, make: Make, at: int, shown: str) -> None:
    """They are clamped to the supported range."""
    project = make_project(make)
    made = History()
    made.commit(files={"a": "1"}, at=at, zone="+0000")
    made.fill(instance, project)
    commit = api.get(f"/projects/{project.id}/repository/commits/master", make.root).json()
    assert commit["committed_date"] == commit["authored_date"] == shown


def test_sequence(api: Api, make: Make, branched: BranchedRepository) -> None:
    """The number of commits up to it."""
    url = f"/projects/{branched.project.id}/repository/commits"
    assert api.get(f"{url}/{branched.first}/sequence", make.root).json() == {"count": 1}
    assert api.get(f"{url}/master/sequence", make.root).json() == {"count": 5}
    assert api.get(f"{url}/master/sequence", make.root, first_parent="true").json() == {"count": 4}


def test_no_signature(api: Api, make: Make, branched: BranchedRepository) -> None:
    """The response is 404."""
    answer = api.get(f"/projects/{branched.project.id}/repository/commits/{branched.last}/signature", make.root)
    assert (answer.status_code, answer.json()) == (404, {"message": "404 Signature Not Found"})


KINDS = [("PGP SIGNATURE", "PGP"), ("SSH SIGNATURE", "SSH"), ("SIGNED MESSAGE", "X509")]


@pytest.mark.parametrize(("words", "kind"), KINDS)
def test_signatures(instance: Instance, api: Api, make: Make, words: str, kind: str) -> None:
    """Their type is returned, and marked as unverified."""
    project = make_project(make)
    made = History()
    made.commit(files={"a": "1"})
    made.fill(instance, project)
    path = repository_of(instance, project).path
    plain = run(path, "cat-file", "commit", "master")
    head, _, message = plain.partition("\n\n")
    lines = f"gpgsig -----BEGIN {words}-----\n \n abcd\n -----END {words}-----"
    signed = run(path, "hash-object", "-t", "commit", "-w", "--stdin", input=f"{head}\n{lines}\n\n{message}".encode())
    answer = api.get(f"/projects/{project.id}/repository/commits/{signed}/signature", make.root)
    assert answer.status_code == 200, answer.text
    assert answer.json()["signature_type"] == kind
    assert answer.json()["verification_status"] in ("unverified", "unknown_key")
