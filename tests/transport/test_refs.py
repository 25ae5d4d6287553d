"""Refs: permitted names, permissions, and hidden refs."""

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of, run
from tests.transport.conftest import GitRemote, Tree, over_http, over_ssh
from tests.transport.test_workflows import recorded
from tests.transport.wire import ZERO, connected, key_of, packet, send_commands

HEX = "0123456789abcdef" * 4
REFUSED = {
    f"refs/heads/{HEX[:40]}": "cannot look like the id of a commit",
    f"refs/heads/{HEX}": "cannot look like the id of a commit",
    f"refs/heads/{HEX[:40].upper()}": "cannot look like the id of a commit",
    f"refs/heads/{HEX[:40]}/x": "cannot look like the id of a commit",
    f"refs/tags/{HEX[:40]}": "cannot look like the id of a commit",
    "refs/heads/--help": "cannot begin with '-'",
    "refs/heads/-x": "cannot begin with '-'",
    "refs/tags/-d": "cannot begin with '-'",
    "refs/heads/HEAD": "'HEAD' is not a valid name for a branch or a tag.",
    "refs/heads/HEAD/x": "'HEAD/x' cannot begin with 'HEAD/'.",
    "refs/heads/heads/master": "cannot begin with 'refs/' or 'heads/'",
    "refs/heads/refs/heads/master": "cannot begin with 'refs/' or 'heads/'",
    "refs/replace/" + HEX[:40]: "Only branches and tags can be pushed",
    "refs/remotes/origin/x": "Only branches and tags can be pushed",
    "refs/stash": "Only branches and tags can be pushed",
    "refs/pipelines/1": "Only branches and tags can be pushed",
    "refs/keep/x": "deny updating a hidden ref",
    "refs/intents/x": "deny updating a hidden ref",
    "refs/merge-requests/1/head": "deny updating a hidden ref",
}
ALLOWED = [
    f"refs/heads/{HEX[:40]}-foo",
    f"refs/heads/{HEX[:39]}",
    f"refs/heads/x/{HEX[:40]}",
    "refs/heads/ümlaut",
    "refs/heads/a" + "/b" * 20,
    "refs/tags/master",
    "refs/heads/keep/x",
    "refs/notes/commits",
]


def test_ref_names(instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]) -> None:
    """Attack: flag-like, hex-like and ambiguous names are rejected, each with its reason; others are accepted."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(project)
    first = tree.commit()
    tree.git("push", "-q", url, "master")
    for ref, words in REFUSED.items():
        assert words in tree.git("push", url, f"{first}:{ref}", fails=True), ref
    assert list(repository_of(instance, project).refs()) == [b"refs/heads/master"]
    tree.git("push", "-q", url, *(f"{first}:{ref}" for ref in ALLOWED))
    assert len(recorded(instance, project)) == 1 + len(ALLOWED)
    second = tree.commit(content="two\n")
    tree.git("push", "-q", url, "master:refs/heads/master")
    seen = tree.git("ls-remote", url)
    assert f"{second}\trefs/heads/master" in seen
    assert f"{first}\trefs/tags/master" in seen, "a tag of the same name stays what it was"


def test_invalid_names_by_a_custom_client(instance: Instance, make: Make, tree: Tree) -> None:
    """Names that git's own client would not send."""
    owner = make.user()
    project = make_project(make, owner)
    first = tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master")
    names = [
        "HEAD",
        "refs/heads/a:b",
        "refs/heads/../x",
        "refs/heads/a..b",
        "refs/heads/x.lock",
        "refs/heads/",
        "master",
    ]
    names += [
        "refs/heads/a b",
        "refs/heads/a\tb",
        "refs/heads//x",
        "config",
        "refs/heads/@{0}",
        "refs/heads/" + "x" * 300,
    ]
    for name in names:
        report = send_commands(instance, project, owner, [(ZERO, first, name)])
        assert "ok " + name not in report, name
    assert list(repository_of(instance, project).refs()) == [b"refs/heads/master"]
    assert len(recorded(instance, project)) == 1


def test_names_in_other_encodings(instance: Instance, make: Make, tree: Tree) -> None:
    """Names that are not UTF-8 cannot be shown by the API, so they are rejected."""
    owner = make.user()
    project = make_project(make, owner)
    tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master")
    first = tree.git("rev-parse", "HEAD")
    (tree.folder / ".git" / "packed-refs").write_bytes(f"{first} refs/heads/".encode() + b"caf\xe9\n")
    said = tree.git("push", over_http(instance, project, owner), "refs/heads/*:refs/heads/*", fails=True)
    assert "must be valid UTF-8" in said


# False claims that git's client would never send; the tag v1 and the branch topic are at "one".
FALSE_CLAIMS = [
    ("a tag deleted as if it were not there", [(ZERO, ZERO, "refs/tags/v1")]),
    ("a tag deleted from a value that nothing has", [("1" * 40, ZERO, "refs/tags/v1")]),
    ("a tag moved as if it were new", [(ZERO, "two", "refs/tags/v1")]),
    ("a branch deleted from a value that nothing has", [("1" * 40, ZERO, "refs/heads/topic")]),
    ("a branch deleted from a value that it does not have", [("two", ZERO, "refs/heads/topic")]),
    ("a protected branch rewound as if it were new", [(ZERO, "one", "refs/heads/master")]),
    ("a protected branch rewound from where it would be forward", [("one", "one", "refs/heads/master")]),
    ("one branch twice", [(ZERO, "one", "refs/heads/new"), (ZERO, "one", "refs/heads/new")]),
    (
        "one branch twice, the second after the first",
        [(ZERO, "one", "refs/heads/new"), ("one", "two", "refs/heads/new")],
    ),
    ("nothing that changes", [("one", "one", "refs/heads/topic")]),
    ("the deletion of what is not there", [(ZERO, ZERO, "refs/heads/never")]),
    ("an object that is not there", [(ZERO, "2" * 40, "refs/heads/new")]),
]


@pytest.mark.parametrize("commands", [each for _, each in FALSE_CLAIMS], ids=[name for name, _ in FALSE_CLAIMS])
def test_false_claims(instance: Instance, make: Make, tree: Tree, commands: list[tuple[str, str, str]]) -> None:
    """Permissions follow from the actual refs, not from the client's claims."""
    owner, developer = make.user(), make.user()
    project = make_project(make, owner, members={developer: Level.DEVELOPER})
    ids = {"one": tree.commit(), "two": tree.commit(content="two\n")}
    tree.git(
        "push", "-q", over_http(instance, project, owner), "master", "HEAD~:refs/heads/topic", "HEAD~:refs/tags/v1"
    )
    repository = repository_of(instance, project)
    before, noted = repository.refs(), recorded(instance, project)
    told = [(ids.get(old, old), ids.get(new, new), ref) for old, new, ref in commands]
    send_commands(instance, project, developer, told)
    assert repository.refs() == before
    assert recorded(instance, project) == noted


def test_tags_are_changed_by_masters_only(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner, developer = make.user(), make.user()
    project = make_project(make, owner, members={developer: Level.DEVELOPER})
    mine, theirs = git_remote(owner), git_remote(developer)
    tree.commit()
    tree.git("push", "-q", mine.url(project), "master", "master:refs/tags/v1", env=mine.env)
    tree.commit(content="two\n")
    tree.git("push", "-q", theirs.url(project), "master:refs/tags/v2", env=theirs.env)
    for spec in ("+master:refs/tags/v1", ":refs/tags/v1"):
        said = tree.git("push", theirs.url(project), spec, fails=True, env=theirs.env)
        assert "You are not allowed to change existing tags on this project." in said
        tree.git("push", "-q", mine.url(project), spec, env=mine.env)


def test_protected_branches_and_tags(
    instance: Instance, api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """Attack: names with slashes and patterns."""
    owner, developer = make.user(), make.user()
    project = make_project(make, owner, members={developer: Level.DEVELOPER})
    theirs = git_remote(developer)
    tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master", "master:rel/1/x", "master:refs/tags/v1")
    assert api.post(f"/projects/{project.id}/protected_branches", owner, name="rel/*").status_code == 201
    assert api.post(f"/projects/{project.id}/protected_tags", owner, name="v*").status_code == 201
    tree.git("commit", "-q", "--amend", "-m", "Another")
    url, env = theirs.url(project), theirs.env
    for spec, words in {
        "master:rel/1/x": "force push",
        "+master:rel/1/x": "force push",
        ":rel/1/x": "delete protected branches",
        "master:rel/2": "push code to protected branches",
        "master:refs/tags/v2": "as it is protected",
        ":refs/tags/v1": "change existing tags",
    }.items():
        refused = tree.git("push", url, spec, fails=True, env=env)
        assert words in refused or "non-fast-forward" in refused, (spec, refused)
    said = tree.git("push", over_http(instance, project, owner), ":rel/1/x", ":refs/tags/v1", fails=True)
    assert (
        "refs/heads/rel/1/x: You can only delete protected branches using the web interface." in said
        or "refs/tags/v1: Protected tags cannot be deleted." in said
    )
    several = tree.git("push", url, "master:fine", "master:rel/2", fails=True, env=env)
    assert "refs/heads/rel/2: You are not allowed to push code to protected branches on this project." in several
    alone = tree.git("push", url, "master:rel/2", fails=True, env=env)
    assert "refs/heads/rel/2: " not in alone
    assert len(recorded(instance, project)) == 3
    tree.git("push", "-q", url, "master:relative", env=env)


def test_the_first_push_requires_a_master(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner, developer = make.user(), make.user()
    project = make_project(make, owner, members={developer: Level.DEVELOPER})
    theirs = git_remote(developer)
    tree.commit()
    said = tree.git("push", theirs.url(project), "master:topic", fails=True, env=theirs.env)
    assert "You are not allowed to push code to protected branches on this project." in said


def _with_internal_refs(instance: Instance, make: Make, tree: Tree) -> tuple[User, Project, str]:
    owner = make.user()
    project = make_project(make, owner)
    tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master")
    path = repository_of(instance, project).path
    secret = run(path, "commit-tree", "-m", "secret", run(path, "rev-parse", "master^{tree}"))
    for ref in ("refs/keep/secret", "refs/intents/secret", "refs/merge-requests/1/head"):
        run(path, "update-ref", ref, secret)
    return owner, project, secret


def test_internal_refs_are_never_listed(
    instance: Instance, api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """Attack: list or fetch them by name, with every protocol version."""
    owner, project, secret = _with_internal_refs(instance, make, tree)
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(project)
    for version in ("0", "1", "2"):
        speak = ("-c", f"protocol.version={version}")
        listed = tree.git(*speak, "ls-remote", url)
        assert "refs/keep" not in listed and "refs/intents" not in listed
        assert f"{secret}\trefs/merge-requests/1/head" in listed
        assert tree.git(*speak, "ls-remote", url, "refs/keep/secret", "refs/intents/*", "keep/secret") == ""
        for ref in ("refs/keep/secret", "refs/intents/secret", "keep/secret"):
            assert "couldn't find remote ref" in tree.git(*speak, "fetch", url, ref, fails=True)
        tree.git(*speak, "fetch", "-q", url, "refs/merge-requests/1/head")
        assert "refs/keep" not in tree.git(*speak, "fetch", "--dry-run", url, "+refs/*:refs/all/*")
    assert api.put(f"/projects/{project.id}", owner, merge_requests_enabled=False).status_code == 200
    for version in ("0", "2"):
        assert "merge-requests" not in tree.git("-c", f"protocol.version={version}", "ls-remote", url)


def test_internal_refs_are_not_archived(
    instance: Instance, make: Make, tree: Tree, ssh_key: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    """An archive over SSH contains visible refs only."""
    owner, project, _ = _with_internal_refs(instance, make, tree)
    with connected(instance, key_of(ssh_key(owner)), tmp_path) as connection:

        def archive(*arguments: str) -> tuple[int, bytes, str]:
            asked = b"".join(packet(f"argument {argument}\n") for argument in arguments) + b"0000"
            said = connection.run(f"git-upload-archive '{project.path}.git'", asked)
            return said.status, said.out, said.err

        for name in ("master", "refs/heads/master", "HEAD", "master:"):
            status, out, err = archive("--format=tar", name)
            assert status == 0 and b"README" in out, err
        for name in ("refs/keep/secret", "keep/secret", "refs/intents/secret", "intents/secret", "keep/secret:README"):
            status, out, err = archive("--format=tar", name)
            assert status == 128 and b"README" not in out, name
            assert err == "There is no such branch, tag or commit.\n"
        written = tmp_path / "written"
        for option in (f"--output={written}", f"-o{written}", "--exec=id", "--remote=.", "--add-file=/etc/passwd"):
            _, out, _ = archive("--format=tar", option, "master")
            assert b"root:" not in out and b"README" not in out, option
        assert not written.exists()
        for garbage in (b"", b"0000", b"zzzz", b"0003", b"ffff", b"0004", b"00ff" + b"x" * 10, b"x" * 100_000):
            assert connection.run(f"git-upload-archive '{project.path}.git'", garbage).status != 0


def test_an_archive_of_a_branch_named_like_a_tag(
    instance: Instance, make: Make, tree: Tree, ssh_key: Callable[..., dict[str, str]]
) -> None:
    """Attack: the branch is archived, as everywhere, although git itself would take the tag."""
    owner = make.user()
    project = make_project(make, owner)
    tree.env = ssh_key(owner)
    tree.commit("old.txt")
    tree.git("tag", "master")
    tree.git("tag", "only")
    tree.commit("new.txt")
    url = over_ssh(instance, project)
    tree.git("push", "-q", url, "refs/heads/master", "refs/tags/master", "refs/tags/only")

    def archived(*arguments: str) -> set[str]:
        tree.git("archive", f"--remote={url}", "--format=tar", "--output=got.tar", *arguments)
        with tarfile.open(tree.folder / "got.tar") as unpacked:
            return set(unpacked.getnames())

    both = {"old.txt", "new.txt"}
    assert archived("master") == archived("refs/heads/master") == archived("HEAD") == archived("master:") == both
    assert archived("refs/tags/master") == archived("only") == {"old.txt"}
    assert archived("master", "new.txt") == {"new.txt"}
    assert archived("--prefix", "master/", "master", "new.txt") == {"master", "master/new.txt"}
    assert archived("--prefix", "master", "only") == {"masterold.txt"}
