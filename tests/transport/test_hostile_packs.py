"""Attacks by the content of a push: bombs in packs, deltas, commands and compressed requests."""

import asyncio
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingot.git.maintenance import object_limits
from ingot.transport import git_http, push, push_requests
from ingot.transport.git_process import PUSH_LIMITS, GitProcess
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of, run
from tests.transport.conftest import GitRemote, Tree
from tests.transport.packs import BLOB, COMMIT, TREE, PackWriter, commit_text, copy_delta, object_id, tree_text
from tests.transport.wire import EMPTY_PACK, ZERO, auth_of, connected, exchange, key_of, packet, send_commands


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    return make_project(make, owner)


@pytest.fixture(autouse=True)
def nothing_left(instance: Instance, project: Project, owner: User) -> Iterator[None]:
    """After each attack the project accepts a push, and no file of the refused one is left."""
    yield
    path = repository_of(instance, project).path
    assert not [file.name for file in path.rglob("*") if "tmp_" in file.name or "incoming" in file.name]
    good = PackWriter()
    tip = good.add(COMMIT, commit_text(good.add(TREE, b""), b"Good\n"))
    said = send_commands(instance, project, owner, [(ZERO, tip, "refs/heads/good")], good.finish())
    assert "ok refs/heads/good" in said


def _push(instance: Instance, project: Project, owner: User, pack: bytes, tip: str) -> str:
    return send_commands(instance, project, owner, [(ZERO, tip, "refs/heads/bad")], pack)


def test_too_many_refs(
    make: Make,
    owner: User,
    project: Project,
    tree: Tree,
    git_remote: Callable[[User], GitRemote],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A million refs in one push are refused while they are read, before git keeps them in memory."""
    monkeypatch.setattr(push_requests, "MAX_COMMANDS", 50)
    chosen = git_remote(owner)
    tree.env = chosen.env
    tip = tree.commit()
    said = tree.git("push", chosen.url(project), *(f"{tip}:refs/heads/{number}" for number in range(51)), fails=True)
    assert "A push may change 50 references at most." in said or "more refs or objects than allowed" in said, said


def test_long_names_of_refs(instance: Instance, owner: User, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_requests, "MAX_COMMANDS_BYTES", 100_000)
    commands = [(ZERO, "1" * 40, f"refs/heads/{'x' * 30_000}{number}") for number in range(4)]
    assert "references at most" in send_commands(instance, project, owner, commands)


def test_a_pack_that_claims_billions_of_objects(instance: Instance, owner: User, project: Project) -> None:
    pack = PackWriter().finish(count=2**32 - 1)
    assert "A push may contain 20000000 objects at most." in _push(instance, project, owner, pack, "1" * 40)


def test_push_options_without_end(
    instance: Instance, owner: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push_requests, "MAX_OPTIONS_BYTES", 10_000)
    command = packet(f"{ZERO} {'1' * 40} refs/heads/x\0report-status push-options")
    body = command + b"0000" + packet("x" * 1000) * 11 + b"0000" + EMPTY_PACK
    answer = exchange(instance, f"{project.path}.git", "receive", body, auth_of(owner))
    assert b"unpack The push options are too long." in answer.content


def test_a_delta_bomb(instance: Instance, owner: User, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three deltas of a kilobyte each describe a file of a terabyte."""
    monkeypatch.setattr(push, "PUSH_LIMITS", PUSH_LIMITS._replace(memory=512 * 2**20))
    pack = PackWriter()
    base, size = pack.position, 60_000
    pack.add(BLOB, bytes(size))
    for _ in range(3):
        base = pack.add_delta(base, copy_delta(size, *[(0, 60_000)] * 200))
        size = 60_000 * 200
    for _ in range(3):
        base = pack.add_delta(base, copy_delta(size, *[(0, 60_000)] * 20_000))
        size = 60_000 * 20_000
    tip = pack.add(COMMIT, commit_text(pack.add(TREE, b"")))
    bomb = pack.finish()
    assert len(bomb) < 100_000
    said = _push(instance, project, owner, bomb, tip)
    assert "ng refs/heads/bad unpacker error" in said, said


def test_a_long_chain_of_deltas(instance: Instance, api: Api, owner: User, project: Project) -> None:
    """Every object is a delta of the one before it; the last one is read like any other."""
    pack = PackWriter()
    content, base = b"start\n", pack.position
    pack.add(BLOB, content)
    for number in range(3000):
        added = f"{number}\n".encode()
        base = pack.add_delta(base, copy_delta(len(content), (0, len(content)), added=added))
        content += added
    tip = pack.add(COMMIT, commit_text(pack.add(TREE, tree_text((b"file", object_id(BLOB, content))))))
    assert "ok refs/heads/bad" in _push(instance, project, owner, pack.finish(), tip)
    assert api.get(f"{project.url}/repository/files/file/raw", owner, ref="bad").content == content


@pytest.mark.parametrize("kind", ["commit", "tree"])
def test_objects_that_are_read_as_a_whole_are_limited(
    instance: Instance, owner: User, project: Project, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A message or a folder of a gigabyte would be read into memory by every list that shows it."""
    monkeypatch.setattr(object_limits, "MAX_OBJECT_MB", {"commit": 1, "tree": 1})
    pack = PackWriter()
    blob = pack.add(BLOB, b"")
    many = [(f"{number:08}".encode(), blob) for number in range(40_000)] if kind == "tree" else []
    message = b"x" * 2**20 if kind == "commit" else b"Change\n"
    tip = pack.add(COMMIT, commit_text(pack.add(TREE, tree_text(*many)), message))
    said = _push(instance, project, owner, pack.finish(), tip)
    assert f"A {kind} is larger than the 1 MB that are allowed." in said
    for _ in range(300):  # More objects are measured by git itself.
        pack.add(BLOB, pack.position.to_bytes(8, "big"))
    said = _push(instance, project, owner, pack.finish(), tip)
    assert f"A {kind} is larger than the 1 MB that are allowed." in said


def test_packs_that_are_none(instance: Instance, owner: User, project: Project) -> None:
    good = PackWriter()
    tip = good.add(COMMIT, commit_text(good.add(TREE, b"")))
    pack = good.finish()
    flipped = pack[:-30] + bytes([pack[-30] ^ 0xFF]) + pack[-29:]
    missing_base = PackWriter()
    missing_base.add_delta(-1000, copy_delta(10, (0, 10)))
    wrong_size = PackWriter()
    start = wrong_size.position
    wrong_size.add(BLOB, b"x" * 10)
    wrong_size.add_delta(start, copy_delta(10, (0, 60_000)))
    for bad in (
        pack[:-1],
        pack[: len(pack) // 2],
        flipped,
        pack[:-20] + bytes(20),
        good.finish(count=1),
        good.finish(count=100),
        pack[:4] + b"\0\0\0\x63" + pack[8:],
        missing_base.finish(),
        wrong_size.finish(),
        bytes(100),
        b"",
    ):
        said = _push(instance, project, owner, bad, tip)
        assert "ok refs/heads/bad" not in said, bad[:50]
    assert not repository_of(instance, project).refs()


@pytest.mark.parametrize("service", ["receive", "upload"])
def test_compressed_requests(
    instance: Instance, owner: User, project: Project, monkeypatch: pytest.MonkeyPatch, service: str
) -> None:
    """A small body that decompresses to more than any client compresses; multipart bodies are not read at all."""
    monkeypatch.setattr(git_http, "MAX_COMPRESSED_REQUEST_BYTES", 2**20)
    path, auth = f"{project.path}.git", auth_of(owner)
    lines = b"".join(packet(f"{ZERO} {'1' * 40} refs/heads/{number}") for number in range(15_000))
    for content in (bytes(2**21), lines):
        bomb = gzip.compress(content)
        refused = exchange(instance, path, service, bomb, auth, {"Content-Encoding": "gzip"})
        assert refused.status_code == 413, refused.text
    nested = exchange(
        instance, path, service, gzip.compress(gzip.compress(b"0000")), auth, {"Content-Encoding": "gzip"}
    )
    assert nested.status_code == 400
    parts = b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n" * 1000 + b"--x--\r\n"
    multipart = exchange(instance, path, service, parts, auth, {"Content-Type": "multipart/form-data; boundary=x"})
    assert multipart.status_code == 415


async def _limits_of_a_push(folder: Path) -> str:
    async with await GitProcess.start(["cat-file", "--batch"], folder, limits=PUSH_LIMITS) as process:
        return Path(f"/proc/{process.pid}/limits").read_text()


def test_processes_of_a_push_are_limited(instance: Instance, project: Project) -> None:
    limits = asyncio.run(_limits_of_a_push(repository_of(instance, project).path))
    lines = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()}
    assert lines["Max cpu time"] == str(PUSH_LIMITS.cpu_seconds)
    assert lines["Max data size"] == str(PUSH_LIMITS.memory)


def test_a_fold_of_trees(
    instance: Instance,
    api: Api,
    owner: User,
    project: Project,
    ssh_key: Callable[..., dict[str, str]],
    tmp_path: Path,
) -> None:
    """Eleven trees that contain the one below ten times describe ten billion files: counted, but never listed."""
    pack = PackWriter()
    oid = pack.add(TREE, tree_text(*((b"file%d" % number, pack.add(BLOB, b"")) for number in range(1))))
    for _ in range(10):
        oid = pack.add(TREE, b"".join(b"40000 d%d\0" % number + bytes.fromhex(oid) for number in range(10)))
    tip = pack.add(COMMIT, commit_text(oid))
    assert "ok refs/heads/bad" in _push(instance, project, owner, pack.finish(), tip)
    listed = api.get(f"{project.url}/repository/tree", owner, ref="bad", recursive=True, per_page=3)
    assert listed.status_code in (200, 400)
    assert run(repository_of(instance, project).path, "rev-parse", "bad") == tip
    with connected(instance, key_of(ssh_key(owner)), tmp_path) as connection:
        for name in ("bad", "refs/heads/bad", "heads/bad", "bad:d1"):
            asked = b"".join(packet(f"argument {argument}\n") for argument in ("--format=tar", name)) + b"0000"
            refused = connection.run(f"git-upload-archive '{project.path}.git'", asked)
            assert (refused.status, refused.err) == (128, "The commit has too many files and folders.\n")
