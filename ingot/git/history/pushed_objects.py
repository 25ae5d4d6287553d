"""Commits and files that a push would add, read before it is accepted."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository

_TIMEOUT_SECONDS = 60.0
_PERSON = re.compile(rb"^(author|committer) (.*?) ?<([^>\n]*)>", re.MULTILINE)


class CheckedCommit(NamedTuple):
    """Commit that no branch or tag contains yet."""

    oid: str
    author_email: str
    committer_name: str
    committer_email: str
    message: str
    signed: bool


class PushedFile(NamedTuple):
    """File with a content that no branch or tag contains yet."""

    path: str
    size: int


def pushed_commits(
    repository: Repository, tips: Sequence[str], env: Mapping[str, str] | None, limit: int
) -> list[CheckedCommit]:
    """Return the new commits, at most ``limit``; ``env`` makes the objects of the push available."""
    oids = _rev_list(repository, [f"--max-count={limit}"], tips, env).split()
    if not oids:
        return []
    found = run_git(
        ["cat-file", "--batch"], repository.path, b"\n".join(oids) + b"\n", timeout=_TIMEOUT_SECONDS, env=env
    ).out
    commits, start = [], 0
    for oid in oids:
        header_end = found.index(b"\n", start)
        size = int(found[start:header_end].split()[2])
        raw = found[header_end + 1 : header_end + 1 + size]
        commits.append(_parse_commit(oid.decode(), raw))
        start = header_end + 1 + size + 1
    return commits


def pushed_paths(repository: Repository, commits: Sequence[CheckedCommit], env: Mapping[str, str] | None) -> list[str]:
    """Return the paths that commits add or change; a merge commit counts with what differs from all of its parents."""
    args = ["diff-tree", "--stdin", "--root", "-r", "-c", "--no-commit-id", "--name-only", "--diff-filter=d", "-z"]
    asked = "".join(f"{commit.oid}\n" for commit in commits).encode()
    found = run_git(args, repository.path, asked, timeout=_TIMEOUT_SECONDS, env=env).out
    return [path.decode(errors="replace") for path in dict.fromkeys(found.split(b"\0")) if path]


def pushed_files(repository: Repository, tips: Sequence[str], env: Mapping[str, str] | None) -> list[PushedFile]:
    """Return the new files with one of their paths each."""
    lines = _rev_list(repository, ["--objects"], tips, env).splitlines()
    named = [(oid, path) for oid, _, path in (line.partition(b" ") for line in lines) if path]
    if not named:
        return []
    asked = b"".join(oid + b"\n" for oid, _ in named)
    checked = run_git(
        ["cat-file", "--batch-check=%(objecttype) %(objectsize)"],
        repository.path,
        asked,
        timeout=_TIMEOUT_SECONDS,
        env=env,
    ).out.splitlines()
    files = []
    for (_, path), line in zip(named, checked, strict=True):
        kind, _, size = line.partition(b" ")
        if kind == b"blob":
            files.append(PushedFile(path.decode(errors="replace"), int(size)))
    return files


def _rev_list(
    repository: Repository, options: Sequence[str], tips: Sequence[str], env: Mapping[str, str] | None
) -> bytes:
    args = ["rev-list", *options, "--not", "--branches", "--tags", "--not", "--end-of-options", *tips, "--"]
    return run_git(args, repository.path, timeout=_TIMEOUT_SECONDS, env=env).out


def _parse_commit(oid: str, raw: bytes) -> CheckedCommit:
    head, _, message = raw.partition(b"\n\n")
    people = {role: (name, email) for role, name, email in _PERSON.findall(head)}
    none = (b"", b"")
    return CheckedCommit(
        oid,
        people.get(b"author", none)[1].decode(errors="replace"),
        people.get(b"committer", none)[0].decode(errors="replace"),
        people.get(b"committer", none)[1].decode(errors="replace"),
        message.decode(errors="replace"),
        b"\ngpgsig" in head,
    )
