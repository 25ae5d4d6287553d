"""Patches of commits in the formats of ``git diff`` and ``git format-patch``, cached or streamed from git."""

from collections.abc import Generator
from contextlib import closing
from typing import Literal, NamedTuple

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.errors import Invalid
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitLimitReached, GitOutputTooLarge, TreeTooLarge
from ingot.git.core.repository import Repository
from ingot.git.core.streaming import stream_git
from ingot.git.diffs.stats import MAX_TEXT_BYTES
from ingot.git.diffs.tree_changes import EMPTY_TREE, has_too_many_changes
from ingot.git.history.commits import Commit

MAX_BYTES = 256 * 2**20
"""A larger patch is aborted, so that a part is not taken for the whole."""
MAX_MEMORY = 512 * 2**20
"""Patches contain binary files completely, and git holds each of them in memory."""
MAX_PATCH_BYTES = 32 * 2**20
"""Limit of a patch that is sent as one response of the API."""
_MAX_CACHED_BYTES = 512 * 1024
_DIFF_OPTIONS = ("-M", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
_MAIL_OPTIONS = ("format-patch", "--stdout", "--signature=Ingot", *_DIFF_OPTIONS)

PatchContent = bytes | Generator[bytes, None, None]
"""A whole patch from the cache, or the pieces of one that git generates while it is sent."""


class _PatchKey(NamedTuple):
    """Identity of a patch, whose content never changes."""

    repository: str
    format: Literal["diff", "mails"]
    old: str | None
    new: str


_patch_cache: BoundedCache[_PatchKey, bytes] = declare_cache("patches", share=4)


def patch_between(repository: Repository, old: str | None, new: str) -> bytes:
    """Return the diff between two commits, or from the empty tree, in the format of ``git diff``; cached.

    Raises ``Invalid`` if it is too large for one response.
    """
    key = _PatchKey(str(repository.path), "diff", old, new)
    patch = _patch_cache.get(key)
    if patch is None:
        try:
            _require_bounded_changes(repository, old, new)
            patch = run_git(
                _diff_arguments(old, new),
                repository.path,
                config=[MAX_TEXT_BYTES],
                max_bytes=MAX_PATCH_BYTES,
                max_memory=MAX_MEMORY,
            ).out
        except (GitLimitReached, TreeTooLarge):
            raise Invalid("The changes are too large to be sent as one patch") from None
        _cache_patch(key, patch)
    return patch


def patch_id_or_none(repository: Repository, old: str | None, new: str) -> str | None:
    """Return the stable patch id of the changes between two commits; None if there are none or too many of them."""
    try:
        patch = patch_between(repository, old, new)
    except Invalid:
        return None
    return run_git(["patch-id", "--stable"], repository.path, patch).out[:40].decode() or None


def read_diff(repository: Repository, old: str | None, new: str) -> PatchContent:
    """Return the diff between two commits, or from the empty tree, in the format of ``git diff``."""

    def pieces() -> Generator[bytes, None, None]:
        _require_bounded_changes(repository, old, new)
        yield from _stream(repository, _diff_arguments(old, new))

    return _cached_or_streamed(_PatchKey(str(repository.path), "diff", old, new), pieces())


def read_mails(repository: Repository, since: str | None, head: str) -> PatchContent:
    """Return the commits that ``head`` has and ``since`` has not as emails, oldest first, without merges."""
    args = [*_MAIL_OPTIONS, *([f"{since}..{head}"] if since else ["--root", head]), "--"]
    return _cached_or_streamed(_PatchKey(str(repository.path), "mails", since, head), _stream(repository, args))


def _cached_or_streamed(key: _PatchKey, pieces: Generator[bytes, None, None]) -> PatchContent:
    patch = _patch_cache.get(key)
    return _stream_and_cache(key, pieces) if patch is None else patch


def _stream_and_cache(key: _PatchKey, pieces: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    patch = bytearray()
    with closing(pieces):
        for piece in pieces:
            if len(patch) <= _MAX_CACHED_BYTES:
                patch += piece
            yield piece
    _cache_patch(key, bytes(patch))


def _require_bounded_changes(repository: Repository, old: str | None, new: str) -> None:
    """Raise ``TreeTooLarge`` if git could not compare the commits within its limits."""
    if has_too_many_changes(repository, old, new):
        raise TreeTooLarge("diff-tree")


def _cache_patch(key: _PatchKey, patch: bytes) -> None:
    if len(patch) <= _MAX_CACHED_BYTES:
        _patch_cache.put(key, patch, len(patch) + 400)


def _diff_arguments(old: str | None, new: str) -> list[str]:
    return ["diff-tree", "-r", "-p", *_DIFF_OPTIONS, old or EMPTY_TREE, new, "--"]


def read_commit_diff(repository: Repository, commit: Commit) -> PatchContent:
    """Return the diff of a commit against its first parent."""
    return read_diff(repository, commit.parents[0] if commit.parents else None, commit.oid)


def read_commit_mail(repository: Repository, commit: Commit) -> PatchContent:
    """Return a commit as an email; a merge is compared with its first parent (``format-patch`` would omit it)."""
    _require_bounded_changes(repository, commit.parents[0] if commit.parents else None, commit.oid)
    if len(commit.parents) < 2:
        return _stream(repository, [*_MAIL_OPTIONS, "--root", "--max-count=1", commit.oid, "--"])
    show = ["show", "--format=email", "--patch-with-stat", "--binary", "-m", "--first-parent"]
    return _stream(repository, [*show, *_DIFF_OPTIONS, commit.oid, "--"])


def _stream(repository: Repository, args: list[str]) -> Generator[bytes, None, None]:
    sent = 0
    with closing(stream_git(args, repository.path, config=[MAX_TEXT_BYTES], max_memory=MAX_MEMORY)) as pieces:
        for piece in pieces:
            sent += len(piece)
            if sent > MAX_BYTES:
                raise GitOutputTooLarge(args[0], 0, "")
            yield piece
