"""Running git: clean environment, bounded time and output."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ingot.git.core import command
from ingot.git.core.command import MAX_MEMORY, run_git
from ingot.git.core.errors import GitError, GitMemoryExceeded, GitOutputTooLarge, GitTimeout
from ingot.git.core.streaming import stream_git
from ingot.git.maintenance.store import RepositoryStore


@pytest.fixture
def path(store: RepositoryStore, key: str) -> Path:
    """Return an empty repository."""
    return store.path_of(key)


def test_user_and_system_configuration_is_ignored(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: a home directory with aliases, hooks and proxies, and a hostile environment."""
    (tmp_path / ".gitconfig").write_text("[core]\n\thooksPath = /evil\n[http]\n\tproxy = http://evil\n")
    for name, value in {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "GIT_CONFIG_GLOBAL": str(tmp_path / ".gitconfig"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.proxy",
        "GIT_CONFIG_VALUE_0": "http://evil",
        "GIT_SSH_COMMAND": "evil",
        "GIT_EXTERNAL_DIFF": "evil",
        "GIT_DIR": "/",
        "http_proxy": "http://evil",
        "GIT_SSL_NO_VERIFY": "1",
        "LC_ALL": "de_DE.UTF-8",
    }.items():
        monkeypatch.setenv(name, value)
    listed = run_git(["config", "--list"], path).out.decode()
    assert "evil" not in listed
    assert "safe.directory=*" in listed
    seen = run_git(["seen"], path, config=[("alias.seen", "!env")]).out.decode()
    assert "evil" not in seen
    assert "LC_ALL=C\n" in seen
    assert "GIT_SSL_NO_VERIFY" not in seen


def test_arguments_cannot_become_options(path: Path, tmp_path: Path) -> None:
    """Attack: a ref named --output=/tmp/file."""
    target = tmp_path / "pwned"
    with pytest.raises(ValueError, match="option"):
        run_git(["log"], path, operands=[f"--output={target}"])
    assert not target.exists()
    assert run_git(["check-ref-format"], path, operands=["refs/heads/x"]).status == 0


def test_input_and_output_do_not_block_each_other(path: Path) -> None:
    """More than a pipe buffers, in both directions at once."""
    lines = b"0" * 40 + b"\n"
    answer = run_git(["cat-file", "--batch-check"], path, lines * 50_000)
    assert answer.out == (b"0" * 40 + b" missing\n") * 50_000


def test_a_command_that_does_not_read_its_input(path: Path) -> None:
    """It ends before it has read all, without an error."""
    assert run_git(["--version"], path, b"x" * 1_000_000).out.startswith(b"git version")


def test_failures_are_reported(path: Path) -> None:
    """By an error, or by the status if the caller wants it."""
    with pytest.raises(GitError) as failure:
        run_git(["rev-parse", "--verify", "refs/heads/none"], path)
    assert failure.value.status == 128
    assert "Needed a single revision" in failure.value.stderr
    assert "single revision" not in str(failure.value)
    assert run_git(["rev-parse", "--verify", "-q", "refs/heads/none"], path, check=False).status == 1


def test_the_time_is_bounded_and_child_processes_are_killed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git's helper starts another one; neither outlives the timeout, which starts once both run."""
    nap = [("alias.nap", "!echo $$ >nap; sleep 600 & echo $! >>nap; wait; true")]

    beginning = [0.0]

    def timeout_until_both_end() -> float:
        both_run = (path / "nap").exists() and (path / "nap").read_text().count("\n") == 2
        return beginning.pop() if beginning else float(both_run)

    monkeypatch.setattr(command, "time", SimpleNamespace(monotonic=timeout_until_both_end))
    with pytest.raises(GitTimeout):
        run_git(["nap"], path, timeout=1.0, config=nap)
    pids = [int(line) for line in (path / "nap").read_text().split()]
    assert len(pids) == 2
    assert not [pid for pid in pids if _outlives(pid)]


def test_output_is_bounded(path: Path) -> None:
    """Endless output is stopped; the end of stderr is kept."""
    with pytest.raises(GitOutputTooLarge):
        run_git(["talk"], path, config=[("alias.talk", "!yes")], max_bytes=100_000)
    loud = run_git(["complain"], path, config=[("alias.complain", "!yes no | head -c 1000000 >&2; echo end >&2")])
    assert len(loud.stderr) == 64 * 1024
    assert loud.stderr.endswith("end\n")


def test_memory_is_bounded(path: Path) -> None:
    """A remote cannot make git exhaust the machine's memory."""
    hungry = ["hash-object", "--stdin", "--path=x"]
    body = b"x" * 50_000_000
    assert run_git(hungry, path, body).status == 0
    with pytest.raises(GitError):
        run_git(hungry, path, body, max_memory=20_000_000)


def test_an_observer_can_stop_a_command(path: Path) -> None:
    """Its exception is raised, and the command is killed."""

    class Enough(Exception):
        pass

    def stop() -> None:
        if (path / "began").exists() and (path / "began").read_text().endswith("\n"):
            raise Enough

    with pytest.raises(Enough):
        run_git(["nap"], path, config=[("alias.nap", "!echo $$ >began; sleep 600")], on_tick=stop)
    assert not _outlives(int((path / "began").read_text()))


def _outlives(pid: int, seconds: float = 60.0) -> bool:
    """Return whether the process still runs; a killed one may take a moment, and a zombie counts as dead."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return False
        if state == "Z":
            return False
    return True


def test_limits_have_errors_of_their_own(path: Path) -> None:
    with pytest.raises(GitMemoryExceeded):
        run_git(["hash-object", "--stdin", "--path=x"], path, b"x" * 50_000_000, max_memory=20_000_000)
    with pytest.raises(GitTimeout):
        run_git(["spin"], path, config=[("alias.spin", "!kill -XCPU $PPID")])


def test_every_command_is_limited(path: Path) -> None:
    """Its memory and CPU time, so that it also ends if this process is killed."""
    limits = "/proc/$PPID/limits"
    show = [("alias.limits", f"!until grep -q 'data size *[0-9]' {limits}; do :; done; cat {limits}")]
    for text in (
        run_git(["limits"], path, timeout=5.0, config=show).out.decode(),
        b"".join(stream_git(["limits"], path, config=show)).decode(),
    ):
        lines = {line[:26].strip(): line[26:].split()[0] for line in text.splitlines()}
        assert lines["Max data size"] == str(MAX_MEMORY)
        assert lines["Max cpu time"].isdigit()
