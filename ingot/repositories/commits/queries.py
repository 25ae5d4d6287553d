"""Queries of commits."""

import math
import os
from collections.abc import Sequence

import msgspec

from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.db.times import Timestamp, to_datetime
from ingot.core.errors import Invalid, NotFound
from ingot.git.core.paths import path_encodings
from ingot.git.core.refs import HEADS, TAGS
from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import DiffLimits, FileDiff, diff_between
from ingot.git.history.commits import Commit, commit_by_name_or_none, commit_id_or_none, read_commits
from ingot.git.history.log import CommitFilter, all_tips, refs_containing
from ingot.git.history.log import list_commits as list_ids
from ingot.pipelines.outcome import StatusPart, combined_status
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.tables import Project
from ingot.repositories.commits.params import ListCommits

_REF_FOLDERS = {"all": (HEADS, TAGS), "branch": (HEADS,), "tag": (TAGS,)}


def find_commit(repository: Repository, name: str) -> Commit:
    """Return a commit by its (abbreviated) id, branch, tag or expression (``HEAD~2``); raise NotFound otherwise."""
    commit = commit_by_name_or_none(repository, name)
    if commit is None:
        raise NotFound("Commit")
    return commit


def list_commits(repository: Repository, project: Project, params: ListCommits, page: Page) -> Listing[Commit]:
    """List a page of commits in the order of ``git log``."""
    commit_filter = CommitFilter(
        follow=params.follow,
        since=None if params.since is None else math.ceil(_timestamp_seconds(params.since)),
        until=None if params.until is None else math.floor(_timestamp_seconds(params.until)),
        author=params.author or None,
        first_parent=params.first_parent,
        topological=params.order == "topo",
    )
    tips = all_tips(repository) if params.all else _tips(repository, project, params.ref_name)
    oids: list[str] = []
    total = 0
    for spelling in path_encodings(params.path or ""):
        path_filter = msgspec.structs.replace(commit_filter, path=os.fsdecode(spelling) or None)
        oids, total = list_ids(repository, tips, path_filter, (page.number - 1) * page.size, page.size)
        if total:
            break
    return Listing(read_commits(repository, oids), page, total)


def commit_changes(repository: Repository, commit: Commit, limits: DiffLimits) -> Sequence[FileDiff]:
    """Return the files that a commit changed against its first parent."""
    parent = commit.parents[0] if commit.parents else None
    return diff_between(repository, parent, commit.oid, limits).changes


def list_refs(repository: Repository, project: Project, commit: Commit, kind: str, page: Page) -> Listing[bytes]:
    """List a page of the branches and tags that contain a commit, by their full names."""
    by_folder = [refs_containing(repository, commit.oid, folder, project.generation) for folder in _REF_FOLDERS[kind]]
    return slice_page(by_folder[0] if len(by_folder) == 1 else [*by_folder[0], *by_folder[1]], page)


def overall_pipeline_status(pipelines: Sequence[Pipeline]) -> str | None:
    """Return the combined status of a commit's pipelines, or None if it has none."""
    return combined_status(StatusPart(pipeline.status) for pipeline in pipelines) if pipelines else None


def _tips(repository: Repository, project: Project, name: str) -> list[str]:
    """Return the start of a commit list; empty for a ref that does not exist, as in an empty repository."""
    oid = commit_id_or_none(repository, name or project.default_branch or "HEAD")
    if oid is None and name.startswith("-"):  # Git would parse it as an option.
        raise Invalid(ref_name=["is invalid"])
    return [] if oid is None else [oid]


def _timestamp_seconds(stamp: Timestamp) -> float:
    return to_datetime(stamp).timestamp()
