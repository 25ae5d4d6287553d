"""Git through the server against bare git, in turns; and reads of a large repository against F1."""

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import httpx
from sqlalchemy import bindparam, select

from bench.git_history import COMMITS, DEEP, names, write_bulk, write_history
from bench.load import get, requests_per_second
from bench.user_data import TOKEN
from ingot.accounts.keys.params import CreateKey
from ingot.accounts.keys.service import create_key
from ingot.core.db.connection import Connection
from ingot.core.settings import Settings
from ingot.git.maintenance.housekeeping import run_housekeeping
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.tables import projects
from ingot.server.app import open_database
from ingot.server.supervisor import open_socket
from tests.openssh import SSHD, USER, forced_command_lines, sshd

BULK_MEGABYTES = 110
PUSHED_COMMITS = 200
SSH_OPTIONS = "-F /dev/null -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -q"
ENV = {"PATH": os.environ["PATH"], "HOME": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
AUTHOR = {f"GIT_{role}_{part}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}


_KEY = select(projects.c.repository_key).where(projects.c.id == bindparam("project"))


class Measurement(NamedTuple):
    """Measured value and its target."""

    name: str
    value: float
    wanted: str
    met: bool
    note: str = ""


class FilledRepository(NamedTuple):
    """Filled project, and the path of its repository."""

    id: int
    path: Path
    commits: list[str]


def fill_projects(settings: Settings, port: int) -> tuple[FilledRepository, FilledRepository]:
    """Create two projects through the API, and write histories directly into their repositories."""
    large = create_project(settings, port, "large")
    commits = write_history(large.path)
    bulk = create_project(settings, port, "bulk")
    write_bulk(bulk.path, BULK_MEGABYTES)
    database = open_database(settings)
    for place in (large, bulk):
        run_housekeeping(place.path)
        database.write(partial(_note, place=place))
    database.close()
    return FilledRepository(large.id, large.path, commits), bulk


def _note(db: Connection, place: FilledRepository) -> None:
    db.update(projects, place.id, empty=False, generation=1)


def create_project(settings: Settings, port: int, name: str) -> FilledRepository:
    """Create a project and return it with the path of its repository."""
    url = f"http://127.0.0.1:{port}/api/v4/projects"
    answer = httpx.post(url, headers={"PRIVATE-TOKEN": TOKEN}, data={"name": name}).raise_for_status()
    number: int = answer.json()["id"]
    database = open_database(settings)
    key: str = database.read(lambda db: db.value(_KEY, project=number))
    database.close()
    return FilledRepository(number, repository_store(settings).path_of(key), [])


def measure_git(
    settings: Settings, port: int, pid: int, large: FilledRepository, bulk: FilledRepository, rounds: int
) -> Iterator[Measurement]:
    """Measure clones and pushes, each against bare git on the same repository in the same round."""
    url = f"http://root:{TOKEN}@127.0.0.1:{port}/root"
    with tempfile.TemporaryDirectory() as name, _ssh(settings, Path(name)) as (ssh_url, ssh_env):
        folder = Path(name)

        def clone(address: str, **more: str) -> float:
            target = folder / "clone"
            shutil.rmtree(target, ignore_errors=True)
            return timed(folder, ["clone", "-q", "--bare", "--no-local", address, str(target)], more)

        found = ratio(rounds, lambda: clone(f"{url}/large.git"), lambda: clone(f"file://{large.path}"))
        yield Measurement("HTTP clone / git clone", found, "<= 1.10", found <= 1.10)
        handshake = statistics.median(_handshake(folder, ssh_url, ssh_env) for _ in range(rounds))
        found = ratio(
            rounds,
            lambda: clone(f"{ssh_url}/bulk.git", **ssh_env) - handshake,
            lambda: clone(f"file://{bulk.path}"),
        )
        yield Measurement(f"SSH clone of {BULK_MEGABYTES} MB / git clone", found, "<= 1.60", found <= 1.60)
        if SSHD is not None:
            yield _openssh(settings, folder, bulk, rounds)
        yield _push(folder, f"{url}/large.git", large, rounds)
        yield _many_clones(folder, f"{url}/large.git", pid)


def _openssh(settings: Settings, folder: Path, bulk: FilledRepository, rounds: int) -> Measurement:
    """Measure a clone through the forced command against bare git over the same sshd, both including startup."""
    bare_key = folder / "bare-key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", bare_key], check=True)
    lines = [line for line in forced_command_lines(settings.data) if not line.startswith("AuthorizedKeysFile")]
    (folder / "sshd").mkdir()

    def clone(address: str, key: Path) -> float:
        target = folder / "clone"
        shutil.rmtree(target, ignore_errors=True)
        env = {"GIT_SSH_COMMAND": f"ssh -i {key} {SSH_OPTIONS}"}
        return timed(folder, ["clone", "-q", "--bare", address, str(target)], env)

    with sshd(folder / "sshd", [f"AuthorizedKeysFile {bare_key}.pub", *lines]) as port:
        address = f"ssh://{USER}@127.0.0.1:{port}"
        found = ratio(
            max(rounds, 5),
            lambda: clone(f"{address}/root/bulk.git", folder / "key"),
            lambda: clone(f"{address}{bulk.path}", bare_key),
        )
    return Measurement(f"OpenSSH clone of {BULK_MEGABYTES} MB / git over sshd", found, "<= 1.10", found <= 1.10)


def _push(folder: Path, url: str, large: FilledRepository, rounds: int) -> Measurement:
    tree = folder / "tree.git"
    timed(folder, ["clone", "-q", "--bare", "--no-local", f"file://{large.path}", str(tree)], {})
    mirror = folder / "mirror.git"
    shutil.copytree(large.path, mirror)
    tips = []
    for number in range(2 * rounds + 1):
        tip = large.commits[-1]
        for step in range(PUSHED_COMMITS):
            create_project = subprocess.run(
                ["git", "commit-tree", "-p", tip, "-m", f"{number} {step}", f"{large.commits[-1]}^{{tree}}"],
                cwd=tree,
                env={**ENV, **AUTHOR},
                capture_output=True,
                check=True,
            )
            tip = create_project.stdout.decode().strip()
        tips.append(tip)
    counter = iter(range(10_000))
    turn = iter(tips * 100)

    def push(address: str) -> float:
        return timed(tree, ["push", "-q", address, f"{next(turn)}:refs/heads/pushed-{next(counter)}"], {})

    found = ratio(rounds, lambda: push(url), lambda: push(f"file://{mirror}"))
    return Measurement(f"push of {PUSHED_COMMITS} commits / git push", found, "<= 1.50", found <= 1.5)


def _many_clones(folder: Path, url: str, pid: int) -> Measurement:
    before = _megabytes(pid)
    most = [before]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            most[0] = max(most[0], _megabytes(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    clones = [
        subprocess.Popen(["git", "clone", "-q", "--bare", url, str(folder / f"many-{number}")], env=ENV)
        for number in range(20)
    ]
    failed = [process.wait() for process in clones if process.wait() != 0]
    done.set()
    watcher.join()
    grown = most[0] - before
    return Measurement("20 clones at once, MB more", grown, "<= 50", grown <= 50 and not failed)


def measure_reads(port: int, large: FilledRepository, seconds: float, rounds: int) -> Iterator[Measurement]:
    """Measure single reads and pages as a share of F1."""
    base = f"/api/v4/projects/{large.id}/repository"
    file, some = names(1)[0], names(1_000)
    calls = {
        "one commit": (0.25, [f"{base}/commits/{oid}" for oid in large.commits[-64:]]),
        "newest 20 commits": (0.10, [f"{base}/commits"]),
        "one file": (0.25, [f"{base}/files/{quote(file, safe='')}?ref=master"]),
        "raw file": (0.25, [f"{base}/files/{quote(file, safe='')}/raw?ref=master"]),
        "1,000 files": (0.15, [f"{base}/files/{quote(name, safe='')}?ref=master" for name in some]),
        "1,000 raw files": (0.15, [f"{base}/files/{quote(name, safe='')}/raw?ref=master" for name in some]),
        "20 branches": (0.08, [f"{base}/branches?page=7"]),
        "tree page of 20": (0.15, [f"{base}/tree?path=folder-07"]),
        "one branch": (0.25, [f"{base}/branches/branch-00{number:03}" for number in range(64)]),
    }
    for name, (least, paths) in calls.items():
        requests = [get(path, TOKEN) for path in paths]
        requests_per_second(port, requests, min(seconds, 1.0))
        share = statistics.median(
            requests_per_second(port, requests, seconds) / requests_per_second(port, [get("/api/v4/bench")], seconds)
            for _ in range(rounds)
        )
        yield Measurement(f"{name} / F1", share, f">= {least:.2f}", share >= least)


def measure_single_calls(port: int, large: FilledRepository, rounds: int) -> Iterator[Measurement]:
    """Measure calls with a time limit, and an API commit against git's plumbing."""
    base = f"http://127.0.0.1:{port}/api/v4/projects/{large.id}/repository"
    with httpx.Client(headers={"PRIVATE-TOKEN": TOKEN}, timeout=60) as client:
        tip = client.get(f"{base}/branches/master").json()["commit"]["id"]
        calls = {
            "page 500 of commits": f"{base}/commits?page=500",
            "last_commit_id 10,000 back": f"{base}/files/{quote(DEEP, safe='')}?ref={tip}",
            "merged of 100 branches": f"{base}/branches?per_page=100&page=3",
        }
        for name, url in calls.items():
            started = time.perf_counter()
            client.get(url).raise_for_status()
            cold = time.perf_counter() - started
            yield Measurement(f"{name}, ms", 1000 * cold, "<= 50", cold <= 0.05, f"of {COMMITS} commits")
        found = ratio(max(rounds, 9), lambda: _api_commit(client, base), lambda: _plumbing(large.path))
        yield Measurement("API commit / git's plumbing", found, "<= 2.00", found <= 2.0)


def _api_commit(client: httpx.Client, base: str) -> float:
    name = f"bench-{time.perf_counter_ns()}.txt"
    action = {"action": "create", "file_path": name, "content": "what it says\n"}
    started = time.perf_counter()
    create_project = client.post(
        f"{base}/commits", json={"branch": "branch-00001", "commit_message": "Add", "actions": [action]}
    )
    create_project.raise_for_status()
    return time.perf_counter() - started


def _plumbing(path: Path) -> float:
    """Add a file to the root tree with git's plumbing commands."""

    def git(*args: str, text: bytes = b"") -> bytes:
        done = subprocess.run(
            ["git", *args], cwd=path, env={**ENV, **AUTHOR}, input=text, capture_output=True, check=True
        )
        return done.stdout.strip()

    tree = git("ls-tree", "branch-00002")
    started = time.perf_counter()
    blob = git("hash-object", "-w", "--stdin", text=b"%d\n" % time.perf_counter_ns())
    create_project = git("mktree", text=tree + b"\n100644 blob " + blob + b"\tbench-%d.txt\n" % time.perf_counter_ns())
    commit = git("commit-tree", "-p", "branch-00002", "-m", "Add", create_project.decode())
    git("update-ref", "refs/heads/branch-00002", commit.decode())
    return time.perf_counter() - started


def ratio(rounds: int, ours: Callable[[], float], theirs: Callable[[], float]) -> float:
    """Return the median of our time over theirs, each measured right after the other."""
    ours(), theirs()
    return statistics.median(ours() / theirs() for _ in range(rounds))


def timed(cwd: Path, args: list[str], env: dict[str, str]) -> float:
    """Return the seconds that a git command takes."""
    started = time.perf_counter()
    subprocess.run(["git", *args], cwd=cwd, env={**ENV, **AUTHOR, **env}, check=True)
    return time.perf_counter() - started


def _megabytes(pid: int) -> float:
    """Return the private memory of one process, without its git child processes."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except FileNotFoundError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private")) / 1024


@contextlib.contextmanager
def _ssh(settings: Settings, folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Run ``ingot ssh`` on a free port, and return the connection of root."""
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    database = open_database(settings)
    wanted = CreateKey(title="bench", key=Path(f"{key}.pub").read_text())
    database.write(lambda db: create_key(db, 1, wanted))
    database.close()
    listener = open_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    listener.close()
    command = [sys.executable, "-m", "ingot", "ssh", "--data", str(settings.data), "--host", "127.0.0.1"]
    process = subprocess.Popen([*command, "--ssh-port", str(port)])
    try:
        env = {"GIT_SSH_COMMAND": f"ssh -i {key} {SSH_OPTIONS}"}
        _wait(lambda: _handshake(folder, f"ssh://git@127.0.0.1:{port}/root", env))
        yield f"ssh://git@127.0.0.1:{port}/root", env
    finally:
        process.terminate()
        process.wait(20)


def _handshake(folder: Path, url: str, env: dict[str, str]) -> float:
    return timed(folder, ["ls-remote", "-q", f"{url}/bulk.git", "refs/heads/none"], env)


def _wait(attempt: Callable[[], float]) -> None:
    for _ in range(100):
        try:
            attempt()
        except subprocess.CalledProcessError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("SSH does not answer")
