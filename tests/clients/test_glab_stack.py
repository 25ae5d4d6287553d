"""Stacks of glab, if ``INGOT_TEST_GLAB`` names the program."""

import os
import pty
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project

GLAB = os.environ.get("INGOT_TEST_GLAB", "")
pytestmark = pytest.mark.skipif(not GLAB, reason="INGOT_TEST_GLAB does not name glab")
ENTER = b"\r"
DOWN = b"\x1b[B"
BACKSPACE = b"\x7f"


class Checkout:
    """A work tree in which glab and git run as a user."""

    def __init__(self, instance: Instance, project: Project, user: User, folder: Path) -> None:
        self.folder = folder / "tree"
        port = instance.url.rpartition(":")[2]
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "GLAB_CONFIG_DIR": str(folder / "glab"),
            "GIT_TERMINAL_PROMPT": "0",
            "TERM": "xterm",
        }
        identity = f"[user]\n  name = {user.username}\n  email = {user.username}@example.org\n"
        (folder / ".gitconfig").write_text(identity)
        folder.joinpath("glab").mkdir(mode=0o700)
        config = folder / "glab" / "config.yml"
        config.write_text(
            "git_protocol: http\ncheck_update: false\ntelemetry: false\nhost: 127.0.0.1\nhosts:\n  127.0.0.1:\n"
            f"    token: {user.token}\n    api_host: 127.0.0.1:{port}\n    api_protocol: http\n    git_protocol: http\n"
            f"    user: {user.username}\n"
        )
        config.chmod(0o600)
        remote = f"http://{user.username}:{user.token}@127.0.0.1:{port}/{project.path}.git"
        self._run("git", "clone", "-q", remote, str(self.folder), cwd=folder)

    def _run(self, *words: str, cwd: Path | None = None) -> str:
        ran = subprocess.run(
            words,
            cwd=cwd or self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert ran.returncode == 0, f"{words}: {ran.stdout}{ran.stderr}"
        return ran.stdout + ran.stderr

    def git(self, *words: str) -> str:
        """Run git and return its output."""
        return self._run("git", *words).strip()

    def stack(self, *words: str) -> str:
        """Run a command of ``glab stack`` and return its output."""
        return self._run(GLAB, "stack", *words)

    def save(self, name: str, text: str, command: str = "save") -> None:
        """Write a file and save it as a layer of the stack."""
        (self.folder / name).write_text(text)
        self.stack(command, name, "-m", f"Add {name}")

    def in_terminal(self, *words: str, prompt: bytes, keys: bytes) -> None:
        """Run a command of ``glab stack`` in a terminal, and press keys when it prompts."""
        main, terminal = pty.openpty()
        termios.tcsetwinsize(terminal, (24, 120))
        with subprocess.Popen(
            [GLAB, "stack", *words],
            cwd=self.folder,
            env=self._environment,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        ) as process:
            os.close(terminal)
            output = b""
            try:
                while part := os.read(main, 1_000):
                    output += part
                    if keys and prompt in output:
                        os.write(main, keys)
                        keys = b""
            except OSError:  # The program has ended.
                pass
            assert process.wait() == 0, output.decode()
        os.close(main)


def _open(api: Api, project: Project, user: User) -> list[dict[str, Any]]:
    """Return the open merge requests from the bottom of the stack to its top."""
    shown = api.get(f"{project.url}/merge_requests", user, state="opened").json()
    return sorted(shown, key=lambda one: one["stack"]["position"] if one["stack"] else 0)


def test_stack_is_created_synchronized_reordered_and_merged(
    api: Api, make: Make, instance: Instance, tmp_path: Path
) -> None:
    user = make.user()
    project = make_project(make, user, initialize_with_readme=True)
    checkout = Checkout(instance, project, user, tmp_path)
    checkout.stack("create", "feature")
    for name in ("one", "two", "three"):
        checkout.save(name, "first\n")
    assert checkout.stack("list").count("Add ") == 3
    checkout.stack("sync")
    opened = _open(api, project, user)
    assert [(one["title"], one["stack"]["position"], one["stack"]["size"]) for one in opened] == [
        ("Add one", 1, 3),
        ("Add two", 2, 3),
        ("Add three", 3, 3),
    ]
    assert [one["target_branch"] for one in opened[1:]] == [one["source_branch"] for one in opened[:2]]
    checkout.stack("first")
    checkout.save("one", "second\n", "amend")
    checkout.stack("sync")
    for one, path in zip(_open(api, project, user), ("one", "two", "three"), strict=True):
        changes = api.get(f"{project.url}/merge_requests/{one['iid']}/changes", user).json()["changes"]
        assert [change["new_path"] for change in changes] == [path]
    checkout.in_terminal("move", prompt=b"Add two", keys=DOWN + ENTER)
    assert checkout.git("branch", "--show-current") in {one["source_branch"] for one in opened}
    # The command shows the branches in a text field.
    order = "\n".join(one["source_branch"] for one in reversed(opened)).encode()
    checkout.in_terminal("reorder", prompt=b"Edit", keys=BACKSPACE * 400 + order + ENTER)
    checkout.stack("sync")
    opened = _open(api, project, user)
    assert [one["title"] for one in opened] == ["Add three", "Add two", "Add one"]
    # The bottom is merged and its branch deleted; glab notices it, and the next one has the right target.
    merged = api.put(f"{project.url}/merge_requests/{opened[0]['iid']}/merge", user)
    assert merged.status_code == 200
    checkout.git("fetch", "-q", "--prune")
    checkout.stack("sync")
    opened = _open(api, project, user)
    assert [one["title"] for one in opened] == ["Add two", "Add one"]
    assert opened[0]["target_branch"] == "master"
