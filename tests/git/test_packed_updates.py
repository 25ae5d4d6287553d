"""Updates of many refs in one write of packed-refs: values, refusals, locks, and the effect of a kill at each step."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing import packed_updates
from ingot.git.writing.packed_updates import InvalidTarget, update_many_refs
from ingot.git.writing.ref_updates import RefMoved, RefNameConflict, RefUpdate, break_stale_locks
from tests.git.conftest import git
from tests.git_history import History

ROOT = Path(__file__).parents[2]


class Refs:
    """Repository with two commits, and with branches and tags in files and in packed-refs."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        history = History()
        history.commit(files={"a": "a\n"})
        history.commit(files={"a": "b\n"})
        history.into(repository)
        self.first, self.second = git(repository.path, "rev-list", "--reverse", "master").split()
        git(repository.path, "tag", "-a", "-m", "Tag", "annotated", self.first)
        self.tag = git(repository.path, "rev-parse", "annotated")
        git(repository.path, "branch", "packed", self.first)
        git(repository.path, "pack-refs", "--all")
        git(repository.path, "branch", "loose", self.first)
        git(repository.path, "update-ref", "refs/heads/both", self.first)
        git(repository.path, "pack-refs", "--all", "--no-prune")
        git(repository.path, "branch", "group/loose", self.first)

    def moves(self) -> list[RefUpdate]:
        """Updates of every kind: in both places, created, deleted, a tag, and in folders."""
        return [
            *(RefUpdate(f"refs/heads/{name}", self.first, self.second) for name in ("packed", "loose", "both")),
            RefUpdate("refs/heads/group/loose", self.first, NO_OID),
            RefUpdate("refs/heads/new/branch", NO_OID, self.second),
            RefUpdate("refs/tags/moved", NO_OID, self.tag),
            RefUpdate("refs/tags/annotated", self.tag, NO_OID),
        ]


@pytest.fixture
def refs(store: RepositoryStore, key: str) -> Refs:
    return Refs(store.open(key))


def _shown(path: Path) -> dict[str, str]:
    """Return the refs as git reads them."""
    lines = git(path, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split() for line in lines)


def _applied(before: dict[str, str], updates: list[RefUpdate]) -> dict[str, str]:
    after = {**before, **{update.ref: update.new for update in updates}}
    return {ref: oid for ref, oid in after.items() if oid != NO_OID}


def _leftovers(path: Path) -> list[str]:
    return [file.name for file in path.rglob("*") if file.name.endswith(".lock") or file.name.startswith("tmp_")]


def test_refs_in_files_and_in_packed_refs(refs: Refs) -> None:
    path = refs.repository.path
    before, updates = _shown(path), refs.moves()
    update_many_refs(refs.repository, updates)
    assert _shown(path) == _applied(before, updates)
    assert {name.decode(): oid for name, oid in refs.repository.refs().items()} == _shown(path)
    assert git(path, "rev-parse", "moved^{}") == refs.first
    assert f"{refs.first} refs/tags/moved^{{}}" in git(path, "show-ref", "--dereference")
    assert not (path / "refs" / "heads" / "new").exists() and not _leftovers(path)
    git(path, "fsck", "--strict")
    git(path, "branch", "new/branch2")
    git(path, "branch", "-D", "packed")
    assert "refs/heads/packed" not in _shown(path)


def test_old_files_without_peeled_tags(refs: Refs) -> None:
    """A packed-refs file of an old git, or of a backup, has no header and no peeled objects."""
    path = refs.repository.path
    packed = path / "packed-refs"
    packed.write_text("".join(f"{oid} {ref}\n" for ref, oid in sorted(_shown(path).items())))
    update_many_refs(refs.repository, [RefUpdate("refs/heads/new", NO_OID, refs.first)])
    assert packed.read_text().startswith("# pack-refs with: peeled fully-peeled sorted")
    assert f"{refs.tag} refs/tags/annotated\n^{refs.first}\n" in packed.read_text()


def test_refusals_change_nothing(refs: Refs) -> None:
    path = refs.repository.path
    good = RefUpdate("refs/heads/good", NO_OID, refs.first)
    tree = git(path, "rev-parse", "master^{tree}")
    cases: list[tuple[list[RefUpdate], type[Exception]]] = [
        ([RefUpdate("refs/heads/loose", refs.second, refs.first)], RefMoved),
        ([RefUpdate("refs/heads/packed", NO_OID, refs.first)], RefMoved),
        ([RefUpdate("refs/heads/absent", refs.first, NO_OID)], RefMoved),
        ([RefUpdate("refs/heads/loose/below", NO_OID, refs.first)], RefNameConflict),
        ([RefUpdate("refs/heads/packed/below", NO_OID, refs.first)], RefNameConflict),
        ([RefUpdate("refs/heads/group", NO_OID, refs.first)], RefNameConflict),
        ([RefUpdate(f"refs/heads/x{part}", NO_OID, refs.first) for part in ("", "/y")], RefNameConflict),
        ([RefUpdate("refs/heads/tree", NO_OID, tree)], InvalidTarget),
        ([RefUpdate("refs/heads/tag", NO_OID, refs.tag)], InvalidTarget),
        ([RefUpdate("refs/tags/missing", NO_OID, "1" * 40)], InvalidTarget),
        ([RefUpdate("refs/heads/../x", NO_OID, refs.first)], ValueError),
    ]
    before = _shown(path)
    for updates, error in cases:
        with pytest.raises(error):
            update_many_refs(refs.repository, [good, *updates])
        assert _shown(path) == before and not _leftovers(path), updates


def test_locks_of_other_processes(refs: Refs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ref that git has locked is not changed, and neither is packed-refs while git rewrites it."""
    path = refs.repository.path
    monkeypatch.setattr(packed_updates, "_REF_LOCK_SECONDS", 0.05)
    monkeypatch.setattr(packed_updates, "_PACKED_LOCK_SECONDS", 0.05)
    before = _shown(path)
    for lock in (path / "refs" / "heads" / "loose.lock", path / "packed-refs.lock"):
        lock.touch()
        with pytest.raises(RefMoved):
            update_many_refs(refs.repository, refs.moves())
        assert _shown(path) == before and _leftovers(path) == [lock.name]
        lock.unlink()
    update_many_refs(refs.repository, refs.moves())


def test_a_file_system_without_hard_links(refs: Refs, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    before, updates = _shown(refs.repository.path), refs.moves()
    update_many_refs(refs.repository, updates)
    assert _shown(refs.repository.path) == _applied(before, updates)
    assert not _leftovers(refs.repository.path)


_SCRIPT = """
import os, signal, sys
from pathlib import Path
import msgspec
from ingot.git.core.repository import Repository
from ingot.git.writing.packed_updates import update_many_refs
from ingot.git.writing.ref_updates import RefUpdate
updates = msgspec.json.decode(sys.argv[1], type=list[RefUpdate])
for line in sys.stdin:
    step, folder = line.split()
    left = int(step)
    def hook(event, args):
        global left
        if event in ("os.mkdir", "open", "os.rename", "os.link", "os.remove", "os.rmdir", "subprocess.Popen"):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    pid = os.fork()
    if pid == 0:
        sys.addaudithook(hook)
        update_many_refs(Repository(Path(folder)), updates)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def test_a_kill_at_each_step(refs: Refs, tmp_path: Path) -> None:
    """Every ref has its old or its new value, and the update can be repeated once the locks are stale."""
    path, updates = refs.repository.path, refs.moves()
    before = _shown(path)
    arguments = [sys.executable, "-c", _SCRIPT, msgspec.json.encode(updates).decode()]
    complete = []
    with subprocess.Popen(arguments, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as helper:
        assert helper.stdin and helper.stdout
        step, status = 0, -signal.SIGKILL
        while status == -signal.SIGKILL:
            step += 1
            copy = tmp_path / f"copy-{step}.git"
            shutil.copytree(path, copy)
            helper.stdin.write(f"{step} {copy}\n")
            helper.stdin.flush()
            status = int(helper.stdout.readline())
            shown = _shown(copy)
            for update in updates:
                assert shown.get(update.ref, NO_OID) in (update.old, update.new), (step, update)
            for lock in copy.rglob("*.lock"):
                os.utime(lock, (0, 0))
            break_stale_locks(Repository(copy), [update.ref for update in updates])
            rest = [update for update in updates if shown.get(update.ref, NO_OID) == update.old]
            update_many_refs(Repository(copy), rest)
            assert _shown(copy) == _applied(before, updates)
            complete.append(not rest)
            shutil.rmtree(copy)
    assert status == 0 and step > len(updates) * 2
    assert not complete[0] and complete[-1]
