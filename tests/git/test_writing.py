"""Commits without a work tree: requested changes are applied, everything else is unchanged."""

import subprocess
from pathlib import Path

import pytest

from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, Signature, commit_or_none
from ingot.git.maintenance.housekeeping import run_housekeeping
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.commits import MAX_STEPS, CommitMetadata, InvalidAction, NoSuchFile, TreeAction, commit_actions
from ingot.git.writing.new_objects import write_object
from ingot.git.writing.path_rules import is_git_special_file, new_path_error
from tests.git.conftest import files_in, git
from tests.git_history import History

ADA = Signature("Ada", "ada@example.com", 1_700_000_000, 0)
MESSAGE = CommitMetadata("Change\n\nWith a body\n", ADA, ADA)
MODULE = "1" * 40


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    """Return an empty repository."""
    return store.open(key)


@pytest.fixture
def first_commit(repository: Repository) -> Commit:
    """Return a commit with an entry of each kind."""
    history = History()
    files = {
        "README": "hello\n",
        "run": ("100755", "#!/bin/sh\n"),
        "link": ("120000", "README"),
        "module": ("160000", MODULE),
        "deep/er/file": "deep\n",
        "deep.txt": "sorted before the folder\n",
        "deep0": "and after it\n",
        "one/only": "only\n",
        "caf\udce9": "not UTF-8\n",
    }
    history.commit(files=files)
    found = commit_or_none(repository, history.into(repository)[1])
    assert found is not None
    return found


def listed(repository: Repository, oid: str) -> dict[str, str]:
    """Return all paths of a commit with their modes and ids."""
    raw = subprocess.run(["git", "ls-tree", "-rz", oid], cwd=repository.path, capture_output=True, check=True).stdout
    lines = [line.decode(errors="surrogateescape") for line in raw.split(b"\0") if line]
    return {line.split("\t")[1]: line.split("\t")[0] for line in lines}


def change(repository: Repository, parent: Commit | None, *actions: TreeAction) -> str:
    """Commit these actions and check the repository with git fsck."""
    oid = commit_actions(repository, parent, actions, MESSAGE)
    git(repository.path, "update-ref", "refs/heads/made", oid)
    git(repository.path, "fsck", "--strict")
    return oid


def test_other_entries_stay_unchanged(repository: Repository, first_commit: Commit) -> None:
    """A new file changes only the folders above it; modes, symlinks and submodules stay."""
    before = listed(repository, first_commit.oid)
    made = change(repository, first_commit, TreeAction("create", "deep/er/new", content=b"\0binary\xff"))
    after = listed(repository, made)
    assert after.pop("deep/er/new").startswith("100644 blob")
    assert after == before
    assert git(repository.path, "cat-file", "commit", made).endswith("\n\nChange\n\nWith a body")
    assert git(repository.path, "log", "-1", "--format=%an <%ae> %ad %cn %P", "--date=iso", made) == (
        f"Ada <ada@example.com> 2023-11-14 22:13:20 +0000 Ada {first_commit.oid}"
    )


def test_trees_equal_those_of_git(repository: Repository, first_commit: Commit, tmp_path: Path) -> None:
    """To the byte, for the same files."""
    made = change(
        repository,
        first_commit,
        TreeAction("update", "README", content=b"changed\n"),
        TreeAction("create", "deep-er/x", content=b"x"),
        TreeAction("delete", "one/only"),
        TreeAction("move", "moved/run", "run"),
        TreeAction("chmod", "deep/er/file", executable=True),
    )
    index = {"GIT_INDEX_FILE": str(tmp_path / "index"), "GIT_DIR": str(repository.path), "PATH": "/usr/bin:/bin"}
    entries = "".join(f"{line}\t{path}\0" for path, line in listed(repository, made).items())
    given = entries.encode(errors="surrogateescape")
    subprocess.run(["git", "update-index", "-z", "--index-info"], input=given, env=index, check=True)
    tree = subprocess.run(["git", "write-tree", "--missing-ok"], env=index, capture_output=True, check=True).stdout
    assert tree.decode().strip() == git(repository.path, "rev-parse", f"{made}^{{tree}}")
    after = listed(repository, made)
    assert after["moved/run"].startswith("100755")
    assert after["deep/er/file"].startswith("100755")
    assert {"run", "one/only"}.isdisjoint(after)


def test_the_first_commit(repository: Repository) -> None:
    """It has no parent; deleting all files leaves an empty tree."""
    made = change(repository, None, TreeAction("create", "a/b/c", content=b"1"))
    first = commit_or_none(repository, made)
    assert first is not None
    assert first.parents == ()
    emptied = change(repository, first, TreeAction("delete", "a/b/c"))
    assert listed(repository, emptied) == {}


def test_actions_build_on_one_another(repository: Repository, first_commit: Commit) -> None:
    """Each action sees the results of earlier ones, also if a file replaces a folder."""
    made = change(
        repository,
        first_commit,
        TreeAction("delete", "one/only"),
        TreeAction("create", "one", content=b"a file now"),
        TreeAction("move", "README/inside", "README"),
        TreeAction("create", "x", content=b"1"),
        TreeAction("update", "x", content=b"2"),
        TreeAction("move", "y", "x"),
    )
    after = listed(repository, made)
    assert {"one", "README/inside", "y"} <= set(after)
    assert {"x", "README", "one/only"}.isdisjoint(after)


REFUSED = [
    (TreeAction("create", "README", content=b""), "A file with this name already exists"),
    (TreeAction("create", "deep/er", content=b""), "A directory with this name already exists"),
    (TreeAction("update", "nope", content=b""), "A file with this name doesn't exist"),
    (TreeAction("update", "deep", content=b""), "A file with this name doesn't exist"),
    (TreeAction("delete", "deep/er"), "A file with this name doesn't exist"),
    (TreeAction("move", "README", "run"), "A file with this name already exists"),
    (TreeAction("move", "README", "README"), "A file with this name already exists"),
    (TreeAction("move", "x", "nope"), "A file with this name doesn't exist"),
    (TreeAction("create", "README/x", content=b""), "A parent of the path is a file"),
    (TreeAction("create", "link/x", content=b""), "A parent of the path is a file"),
    (TreeAction("create", "module/x", content=b""), "A parent of the path is a file"),
    (TreeAction("update", "module", content=b"x"), "The content of a submodule"),
    (TreeAction("chmod", "link", executable=True), "Only the executable bit"),
    (TreeAction("create", "a/../x", content=b""), "The path cannot have '.' or '..' as a part"),
    (TreeAction("move", "x", "../x"), "The path cannot have '.' or '..' as a part"),
    (TreeAction("delete", ".git/config"), "The path cannot contain '.git'"),
]


@pytest.mark.parametrize(("action", "reason"), REFUSED)
def test_invalid_actions_are_rejected(
    repository: Repository, first_commit: Commit, action: TreeAction, reason: str
) -> None:
    """No objects are left, not even those of earlier actions."""
    before = files_in(repository.path)
    with pytest.raises(InvalidAction) as refused:
        commit_actions(repository, first_commit, [TreeAction("create", "fine", content=b"fine"), action], MESSAGE)
    assert str(refused.value).startswith(reason)
    assert files_in(repository.path) == before


def test_symlinks_and_submodules_move(repository: Repository, first_commit: Commit) -> None:
    """Their mode and content stay."""
    made = change(
        repository,
        first_commit,
        TreeAction("move", "a/link", "link"),
        TreeAction("update", "a/link", content=b"/etc/passwd"),
        TreeAction("move", "a/module", "module"),
    )
    after = listed(repository, made)
    assert after["a/link"].startswith("120000")
    assert after["a/module"] == f"160000 commit {MODULE}"


def test_names_in_other_encodings(repository: Repository, first_commit: Commit) -> None:
    """A name that is not UTF-8 is shown as Latin-1, and the file is updated and deleted by that name."""
    made = change(repository, first_commit, TreeAction("update", "caf\xe9", content=b"new"))
    assert set(listed(repository, made)) == set(listed(repository, first_commit.oid))
    gone = change(repository, first_commit, TreeAction("delete", "caf\xe9"))
    assert "caf\udce9" not in listed(repository, gone)
    with pytest.raises(NoSuchFile):
        commit_actions(repository, first_commit, [TreeAction("delete", "caf\xea")], MESSAGE)


def test_empty_changes(repository: Repository, first_commit: Commit) -> None:
    """Unchanged content is rejected where required."""
    same = [TreeAction("update", "README", content=b"hello\n")]
    with pytest.raises(InvalidAction, match="nothing to commit"):
        commit_actions(repository, first_commit, same, MESSAGE, may_be_empty=False)
    made = change(repository, first_commit, *same)
    assert git(repository.path, "rev-parse", f"{made}^{{tree}}") == first_commit.tree


def test_many_files_become_one_pack(repository: Repository, first_commit: Commit) -> None:
    """A thousand files create few files on disk."""
    before = len(files_in(repository.path))
    made = change(
        repository, first_commit, *(TreeAction("create", f"many/{n}", content=b"%d" % n) for n in range(1000))
    )
    assert len(listed(repository, made)) == 1009
    assert len(files_in(repository.path)) < before + 10


def test_very_deep_paths(repository: Repository) -> None:
    """A path of two thousand folders works."""
    path = "a/" * 1500 + "x"
    made = commit_actions(repository, None, [TreeAction("create", path, content=b"deep")], MESSAGE)
    found = commit_or_none(repository, made)
    assert found is not None
    gone = commit_actions(repository, found, [TreeAction("delete", path)], MESSAGE)
    assert listed(repository, gone) == {}


def test_author_names_cannot_forge_headers(repository: Repository) -> None:
    """Attack: a name with a line break adds a second author."""
    forged = Signature("Ada <x@y> 1 +0000\nauthor Eve", "a>b\n@c", -5, -90)
    made = commit_actions(repository, None, [], CommitMetadata("m", forged, Signature("", "", 1, 0)))
    git(repository.path, "update-ref", "refs/heads/made", made)
    git(repository.path, "fsck", "--strict")
    shown = git(repository.path, "cat-file", "commit", made)
    assert "author Ada x@y 1 +0000author Eve <ab@c> 0 -0130" in shown
    assert "committer unknown <> 1 +0000" in shown


HOSTILE_PATHS = [
    "",
    "/etc/passwd",
    "a//b",
    "a/",
    "..",
    "../x",
    "a/../../x",
    ".",
    "./a",
    "a/./b",
    "a\\..\\b",
    "a\0b",
    ".git",
    ".git/config",
    "a/.git/hooks/post-receive",
    ".GIT/config",
    ".gIt",
    "git~1",
    "GIT~1/config",
    ".git.",
    ".git ",
    ".git...  ./x",
    ".git:stream",
    ".git::$INDEX_ALLOCATION/config",
    "x\\.git\\config",
    "a\\git~1",
    ".g\u200cit",
    "\u200e.git/config",
    "a/.gi\ufefft/x",
    ".git\u206f",
    "x" * 256,
    "y/" * 2048 + "y",
    "\ud800",
]


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_hostile_paths_are_rejected(path: str) -> None:
    """Attack: paths that a checkout on any file system would treat as git's own or the system's."""
    assert new_path_error(path) is not None


UNUSUAL_PATHS = [
    ".gitignore",
    ".github/x",
    "git",
    "a.git",
    "x/git~2",
    "...",
    ".. ",
    "a b",
    "ü/é",
    "-x",
    "a\nb",
    ".gitx",
    "\\",
]


@pytest.mark.parametrize("path", UNUSUAL_PATHS)
def test_unusual_paths_are_accepted(path: str) -> None:
    """All paths that git accepts."""
    assert new_path_error(path) is None


MANY = {
    "flat": [TreeAction("create", f"f{number}", content=b"") for number in range(MAX_STEPS // 10 + 1)],
    "deep": [TreeAction("create", "d/" * 2000 + f"f{number}", content=b"") for number in range(250)],
    "from deep": [TreeAction("move", f"f{number}", "d/" * 2000 + "f") for number in range(250)],
}


@pytest.mark.parametrize("name", MANY)
def test_expensive_actions_are_rejected(repository: Repository, first_commit: Commit, name: str) -> None:
    """Attack: a call within the body limit that would take minutes."""
    before = files_in(repository.path)
    with pytest.raises(InvalidAction, match="too many actions"):
        commit_actions(repository, first_commit, MANY[name], MESSAGE)
    assert files_in(repository.path) == before
    commit_actions(repository, first_commit, MANY["deep"][:50], MESSAGE)


@pytest.mark.parametrize("path", [each for each in HOSTILE_PATHS if each and "\0" not in each and each.isprintable()])
def test_path_checks_match_git(repository: Repository, path: str) -> None:
    """Every name rejected by git's tree check is rejected; each component is tested."""
    blob = write_object(repository, "blob", b"")
    unsound = False
    for part in set(path.split("/")):
        if not part or len(part) > 255:
            continue
        raw = b"100644 " + part.encode() + b"\0" + bytes.fromhex(blob)
        tree = write_object(repository, "tree", raw)
        checked = subprocess.run(
            ["git", "fsck", "--strict", tree], cwd=repository.path, capture_output=True, check=False
        )
        unsound = unsound or checked.returncode != 0 or b"warning" in checked.stderr
    if unsound:
        assert new_path_error(path) is not None


@pytest.mark.parametrize("name", [".gitmodules", "sub/.gitmodules", ".GITMODULES", ".gitm\u200codules", "gitmod~1"])
def test_submodule_urls_cannot_be_options(repository: Repository, first_commit: Commit, name: str) -> None:
    """Attack: a submodule URL that is an option would run at the next recursive clone; pushes reject it too."""
    assert is_git_special_file(name)
    evil = b'[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n'
    before = files_in(repository.path)
    if name == ".gitmodules":
        with pytest.raises(InvalidAction, match="git rejects"):
            commit_actions(repository, first_commit, [TreeAction("create", name, content=evil)], MESSAGE)
        assert files_in(repository.path) == before
    fine = b'[submodule "module"]\n\tpath = module\n\turl = https://example.org/x.git\n'
    change(repository, first_commit, TreeAction("create", name, content=fine))


def test_gitmodules_cannot_be_a_symlink(repository: Repository, first_commit: Commit) -> None:
    """git would read a file outside of the checkout."""
    with pytest.raises(InvalidAction, match="git rejects"):
        commit_actions(repository, first_commit, [TreeAction("move", ".gitmodules", "link")], MESSAGE)


def test_writing_during_housekeeping(repository: Repository, first_commit: Commit) -> None:
    """Folders of loose objects disappear, and each write creates them again."""
    parent = first_commit
    for number in range(5):
        made = commit_actions(repository, parent, [TreeAction("create", f"n{number}", content=b"%d" % number)], MESSAGE)
        git(repository.path, "update-ref", "refs/heads/master", made)
        assert run_housekeeping(repository.path)
        found = commit_or_none(repository, made)
        assert found is not None
        parent = found
    git(repository.path, "fsck", "--strict")
    assert git(repository.path, "rev-list", "--count", "master") == "6"


def test_a_folder_removed_during_a_write(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of an object is removed just before the object is written: the retry works."""
    from ingot.git.writing import new_objects

    real = open_repository(repository.path)
    tries = []

    class Vanishing:
        """Repository of the library whose first write fails like that."""

        def write(self, kind: int, content: bytes) -> object:
            """Fail once."""
            tries.append(content)
            if len(tries) == 1:
                raise OSError("failed to rename lockfile: No such file or directory")
            return real.write(kind, content)

    monkeypatch.setattr(new_objects, "open_repository", lambda _: Vanishing())
    oid = write_object(repository, "blob", b"content")
    assert len(tries) == 2
    assert git(repository.path, "cat-file", "blob", oid) == "content"
