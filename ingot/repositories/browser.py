"""Reads of a repository for the code pages: refs and paths in URLs, folders, files, history and diffs."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from ingot.accounts.users.commit_addresses import is_bot_address
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.paths import path_encodings, path_error
from ingot.git.core.repository import Repository
from ingot.git.diffs.patches import PatchContent, read_commit_diff, read_commit_mail
from ingot.git.diffs.text_patches import patch_of_texts
from ingot.git.history.blame import MAX_LINES
from ingot.git.history.commits import branch_tip, commit_id_or_none, read_commits
from ingot.git.history.commits import commit_or_none as git_commit_or_none
from ingot.git.history.commits import decode_text as decoded
from ingot.git.history.divergence import Divergence, cached_divergence, count_divergence
from ingot.git.history.last_commit import last_commit_id
from ingot.git.history.log import CommitFilter, list_commits
from ingot.git.history.log import count_commits as count_in_history
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.trees.blobs import read_small_blob
from ingot.git.trees.entries import FOLDER, LINK, SUBMODULE, TreeEntry, entry_or_none
from ingot.git.trees.file_names import FileNames, list_file_names
from ingot.repositories.commits.queries import commit_changes, find_commit
from ingot.repositories.commits.views import (
    CommitView,
    DiffView,
    commit_view,
    diff_view,
    signature_time,
    truncated_title,
)
from ingot.repositories.diff_limits import diff_limits
from ingot.repositories.files.params import LineRange
from ingot.repositories.files.queries import blame_file
from ingot.repositories.files.queries import find_file as find_stored_file
from ingot.repositories.trees.params import ListTree
from ingot.repositories.trees.queries import list_entries

RepositoryPatch = PatchContent
"""A whole patch, or its pieces while git generates it."""
_MAX_SEGMENTS = 60
_EXECUTABLE = 0o100755


class ResolvedPath(NamedTuple):
    """A commit under the name by which it was found, and a path of it."""

    ref: str
    commit: str
    path: str


class CodeFile(NamedTuple):
    """A file, a symbolic link or a submodule of a commit."""

    name: str
    oid: str
    kind: Literal["file", "link", "module"]
    executable: bool
    size: int
    body: bytes | None
    """None if the file is too large to be read at once."""


class BlamedLines(NamedTuple):
    """Lines that one commit changed last, each with its number."""

    id: str
    title: str
    author: str
    time: str
    lines: list[tuple[int, str]]
    by_bot: bool
    number: int
    """Number of the first line in the file as that commit left it."""
    previous: tuple[str, str] | None
    """Commit before that change and the path of the file in it; None if the commit created the file."""


class CommitDiff(NamedTuple):
    """A commit and its diff against the first parent."""

    oid: str
    diffs: list[DiffView]


def locate(repository: Repository, rest: str) -> ResolvedPath:
    """Split ``ref/path`` at the longest name of a branch, tag or commit; raise NotFound if there is none."""
    segments = rest.split("/")
    if len(segments) > _MAX_SEGMENTS or path_error(rest) is not None:
        raise NotFound("Tree")
    for length in range(len(segments), 0, -1):
        ref = "/".join(segments[:length])
        commit = commit_id_or_none(repository, ref)
        if commit is not None:
            return ResolvedPath(ref, commit, "/".join(segments[length:]))
    raise NotFound("Tree")


def is_safe_path(path: str) -> bool:
    """Return whether a path can be one of a repository."""
    return path_error(path) is None


def commit_or_none(repository: Repository, name: str) -> str | None:
    """Return the id of the commit that a branch, tag or id points to."""
    return commit_id_or_none(repository, name)


def has_branch(repository: Repository, name: str) -> bool:
    """Return whether there is a branch of this name."""
    return branch_tip(repository, name) is not None


def kind_at(repository: Repository, commit: str, path: str) -> Literal["folder", "file"] | None:
    """Return the kind of entry at a path; None if there is none. The empty path is the root folder."""
    if not path:
        return "folder"
    entries = [entry_or_none(repository, commit, raw) for raw in path_encodings(path)]
    modes = [entry.mode for entry in entries if entry is not None]
    return ("folder" if modes[0] == FOLDER else "file") if modes else None


def list_folder(repository: Repository, commit: str, path: str, page: Page) -> Listing[TreeEntry]:
    """List the entries of a folder; raise NotFound where there is none."""
    return list_entries(repository, ListTree(ref=commit), path, page)


def comparison_base(repository: Repository, old: str, new: str, *, straight: bool) -> str:
    """Return the commit at the old side of a comparison, or an empty string if the histories are not related."""
    commits = [commit for name in (old, new) if (commit := commit_id_or_none(repository, name)) is not None]
    if straight or len(commits) < 2:
        return commits[0] if commits else ""
    return merge_base_or_none(repository, commits) or ""


def read_file(repository: Repository, commit: str, path: str) -> CodeFile:
    """Return the file at a path; raise NotFound where there is none."""
    file = find_stored_file(repository, commit, path)
    mode = file.entry.mode
    kind: Literal["file", "link", "module"] = "module" if mode == SUBMODULE else "link" if mode == LINK else "file"
    name, blob = decoded(file.entry.name), file.blob
    return CodeFile(name, file.entry.oid, kind, mode == _EXECUTABLE, blob.size, blob.body)


def with_content(repository: Repository, file: CodeFile, limit: int) -> CodeFile:
    """Return a file with its content, also if it is too large for ``read_file`` but within a limit in bytes."""
    if file.body is not None or file.kind != "file":
        return file
    require_blocking_allowed()
    return file._replace(body=read_small_blob(repository, file.oid, limit))


def blame_lines(repository: Repository, commit: str, path: str, start: int, end: int) -> list[BlamedLines]:
    """Return lines of a file by the commits that changed them last; raise Invalid where the history is too long."""
    if end < start or end - start > MAX_LINES:
        raise NotFound("File")
    blamed, commits = blame_file(find_stored_file(repository, commit, path), LineRange(start=start, end=end))
    parts, number = [], start
    for part in blamed:
        changed = commits[part.commit]
        lines = [line.decode(errors="replace").removesuffix("\r") for line in part.lines]
        numbered = list(enumerate(lines, number))
        author = changed.author
        title, by_bot = truncated_title(changed), any(map(is_bot_address, (author.email, changed.committer.email)))
        previous = (part.previous[0], decoded(part.previous[1])) if part.previous else None
        parts.append(
            BlamedLines(
                changed.oid, title, author.name, signature_time(author), numbered, by_bot, part.number, previous
            )
        )
        number += len(lines)
    return parts


def last_commit(repository: Repository, commit: str, path: str, project_url: str) -> CommitView:
    """Return the last commit that changed what is at a path."""
    raw = next((raw for raw in path_encodings(path) if entry_or_none(repository, commit, raw)), b"")
    oid = last_commit_id(repository, commit, raw) if path else commit
    return commit_view(read_commits(repository, [oid])[0], project_url)


def commits_by_ids(repository: Repository, oids: Collection[str], project_url: str) -> dict[str, CommitView]:
    """Return commits by id, without those that are missing."""
    found = {oid: git_commit_or_none(repository, oid) for oid in set(oids)}
    return {oid: commit_view(commit, project_url) for oid, commit in found.items() if commit is not None}


def list_history(
    repository: Repository, location: ResolvedPath, author: str, message: str, page: Page, project_url: str
) -> Listing[CommitView]:
    """List the commits of a branch or of a path, by author and by a part of their message."""
    oids, total = list[str](), 0
    for raw in path_encodings(location.path):
        wanted = CommitFilter(path=os.fsdecode(raw) or None, author=author or None, message=message or None)
        oids, total = list_commits(repository, [location.commit], wanted, (page.number - 1) * page.size, page.size)
        if total:
            break
    return Listing([commit_view(commit, project_url) for commit in read_commits(repository, oids)], page, total)


def count_commits(repository: Repository, commit: str) -> int | None:
    """Count the commits up to one; there may be too many to count."""
    return count_in_history(repository, commit)


def list_file_paths(repository: Repository, commit: str) -> FileNames:
    """Return the paths of all files of a commit, as far as they can be listed."""
    return list_file_names(repository, commit)


def branch_distances(
    repository: Repository, default_branch: str, tips: Collection[str], *, wait: bool
) -> Mapping[str, Divergence] | None:
    """Return how far commits are from the default branch: those that are known, or all if the caller may ``wait``."""
    base = branch_tip(repository, default_branch)
    if base is None:
        return None
    return count_divergence(repository, base, tips) if wait else cached_divergence(repository, base, tips)


def commit_diff(db: Connection, repository: Repository, name: str) -> CommitDiff:
    """Return what a commit changed; raise NotFound where there is none of this name."""
    commit = find_commit(repository, name)
    changes = commit_changes(repository, commit, diff_limits(db))
    return CommitDiff(commit.oid, [diff_view(change) for change in changes])


def draft_diff(old_path: str | None, new_path: str, old: bytes, new: bytes) -> DiffView:
    """Return the diff of a file that is about to be committed; ``old_path`` is None for a new one."""
    return DiffView(
        diff=patch_of_texts(old, new),
        new_path=new_path,
        old_path=old_path or new_path,
        a_mode="000000" if old_path is None else "100644",
        b_mode="100644",
        new_file=old_path is None,
        renamed_file=old_path not in (None, new_path),
        deleted_file=False,
        too_large=False,
        collapsed=False,
    )


def read_patch(repository: Repository, name: str, suffix: Literal["patch", "diff"]) -> RepositoryPatch:
    """Return a commit as a mail or as a diff."""
    commit = find_commit(repository, name)
    return (read_commit_mail if suffix == "patch" else read_commit_diff)(repository, commit)


def free_branch_name(repository: Repository, stem: str, numbers: Sequence[int]) -> str:
    """Return the first name ``stem-number`` that no branch has, or nothing."""
    names = (f"{stem}-{number}" for number in numbers)
    return next((name for name in names if branch_tip(repository, name) is None), "")


def decode_text(body: bytes) -> str:
    """Decode the text of a file in any encoding."""
    return decoded(body)


def branch_head(repository: Repository, name: str) -> str | None:
    """Return the commit that a branch points to."""
    return branch_tip(repository, name)


def parents_or_none(repository: Repository, oid: str) -> Sequence[str] | None:
    """Return the parents of a commit, or None if it does not exist."""
    commit = git_commit_or_none(repository, oid)
    return None if commit is None else commit.parents
