"""Messages of git that name paths of this server: clients get a general message, and the log has the details."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingot.projects.projects.tables import projects
from ingot.transport.message_filter import GENERAL_MESSAGE, MessageFilter, clean_messages
from ingot.transport.packet_lines import encode_packet
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import repository_of
from tests.server.process import until
from tests.transport.conftest import GitRemote, Tree, over_openssh, over_ssh

REPOSITORY = Path("/srv/data/repositories/a.git")
Give = Callable[[User], dict[str, str]]


@pytest.mark.parametrize("server", ["built in", "openssh"])
def test_archive_of_paths_outside(
    instance: Instance,
    make: Make,
    tree: Tree,
    ssh_key: Give,
    server: str,
    request: pytest.FixtureRequest,
) -> None:
    """Attack: request files above the repository, whose place git then names."""
    owner = make.user()
    project = make_project(make, owner)
    tree.env = ssh_key(owner)
    tree.commit()
    tree.git("push", "-q", over_ssh(instance, project), "master")
    port = request.getfixturevalue("openssh_port") if server == "openssh" else 0
    url = over_openssh(port, project) if port else over_ssh(instance, project)
    for path in ("../../../etc/passwd", "/etc/passwd"):
        before = len(instance.log.getvalue())
        said = tree.git("archive", f"--remote={url}", "master", path, fails=True)
        assert "repositories" not in said and str(instance.settings.data) not in said, said
        if path.startswith("/"):
            assert GENERAL_MESSAGE in said
            assert "outside repository" in instance.log.getvalue()[before:]
    assert "no such" in tree.git("archive", f"--remote={url}", "nowhere", fails=True).lower()
    assert "did not match" in tree.git("archive", f"--remote={url}", "master", "nowhere", fails=True)


def test_push_to_a_project_that_vanishes(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], tmp_path: Path
) -> None:
    """The project is deleted after the client has read its refs, before it sends its commits."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env, url = chosen.env, chosen.url(project)
    tree.commit()
    tree.git("push", "-q", url, "master")
    tree.commit(content="two\n")
    removed = tmp_path / "removed"
    hook = tree.folder / ".git" / "hooks" / "pre-push"  # The client runs it between the two steps.
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nmv {repository_of(instance, project).path} {removed}.git\n")
    hook.chmod(0o755)
    gone = {"namespace_id": None, "full_path_key": f"deleted//{project.id}"}
    hook.write_text(f"{hook.read_text()}touch {removed}\nwhile [ -e {removed} ]; do sleep 0.01; done\n")
    with ThreadPoolExecutor(1) as background:
        push = background.submit(tree.git, "push", url, "master", fails=True)
        until("the hook to run", removed.exists)
        instance.app.database.write(lambda db: db.update(projects, project.id, **gone))
        removed.unlink()
        said = push.result()
    assert str(instance.settings.data) not in said and "objdir" not in said, said
    assert "deleted" in said or "404" in said, said


def _filtered(text: bytes, size: int) -> tuple[bytes, list[str]]:
    reports: list[str] = []
    message_filter = MessageFilter(REPOSITORY, reports.append)
    parts = [message_filter.feed(text[start : start + size]) for start in range(0, len(text), size)]
    return b"".join(parts) + message_filter.finish(), reports


def _band(number: int, text: bytes) -> bytes:
    return encode_packet(bytes([number]) + text)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_messages_in_pieces(size: int) -> None:
    """A path is found although its message comes in several packets; data is passed on unchanged."""
    data = _band(1, b"error: /srv/data/x\n" + bytes(range(256)) * 100)
    keep_alive = _band(2, b"")
    text = b"".join(
        [
            encode_packet(b"unpack ok\n"),
            _band(2, b"Counting 10%\rCounting 100%\r"),
            data,
            _band(2, b"error: cannot open '/srv/da"),
            keep_alive,
            _band(2, b"ta/pack'\nremote: see https://host/a/b and ./objects/pack\n"),
            _band(3, b"fatal: /srv/data is full"),
            encode_packet(b"ERR cannot read /srv/data/HEAD"),
            b"0000",
        ]
    )
    sent, reports = _filtered(text, size)
    assert b"/srv/data" not in sent.replace(data, b"")
    assert data in sent and keep_alive in sent and sent.endswith(b"0000")
    assert sent.count(GENERAL_MESSAGE.encode()) == 3
    assert b"see https://host/a/b and ./objects/pack\n" in sent and b"Counting 10%\rCounting 100%\r" in sent
    opened, read = "error: cannot open '/srv/data/pack'", "cannot read /srv/data/HEAD"
    assert reports == [opened, "fatal: /srv/data is full", read]


@pytest.mark.parametrize("text", [b"PACK\0\0 error: /srv/data/x\n", b"0008abc", b"", b"0000", b"zzzz/a/b/c"])
def test_other_output_is_unchanged(text: bytes) -> None:
    for size in (1, 3, 100):
        assert _filtered(text, size) == (text, [])


@pytest.mark.parametrize(
    ("message", "withheld"),
    [
        ("fatal: '/etc/x' is outside repository at '.'", True),
        ("/opt/ingot/hooks/pre-receive: 9: cannot create x", True),
        ("warning: unable to access '/root/.config/git/attributes'", True),
        ("To http://127.0.0.1:8080/group/project.git", False),
        ("ssh://git@host:2222/group/project.git", False),
        ("error: cannot lock ref 'refs/heads/a': unable to create './refs/heads/a.lock'", False),
        ("1/2 done, and/or", False),
    ],
)
def test_lines_with_other_paths(message: str, withheld: bool) -> None:
    reports: list[str] = []
    expected = GENERAL_MESSAGE if withheld else message
    cleaned = clean_messages(f"first\n{message}\nlast\n", REPOSITORY, reports.append)
    assert cleaned == f"first\n{expected}\nlast\n"
    assert reports == ([message] if withheld else [])


def test_paths_within_the_repository_become_relative(tmp_path: Path) -> None:
    """Messages keep the relative path; the data directory may be reached by a link."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    text = f"Unable to create '{REPOSITORY}/refs/heads/a.lock': File exists.\n"
    assert clean_messages(text, REPOSITORY, pytest.fail) == "Unable to create './refs/heads/a.lock': File exists.\n"
    text = f"outside repository at '{tmp_path}'; see {link}/objects/pack\n"
    assert clean_messages(text, link, pytest.fail) == "outside repository at '.'; see ./objects/pack\n"
