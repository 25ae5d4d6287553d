"""Comparisons of refs, merge bases and contributors."""

from typing import NamedTuple

from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.errors import Invalid, NotFound
from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import Diff, DiffLimits, diff_between
from ingot.git.history.commits import Commit, commit_id_or_none, read_commits
from ingot.git.history.contributors import Contributor, read_contributors
from ingot.git.history.log import commits_between
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.comparisons.params import ListContributors

MAX_COMMITS = 1000
MAX_REFS = 100
_EMPTY_DIFF = Diff(())


class Comparison(NamedTuple):
    """Commits and diff between two commits; contains the newest commits, oldest first."""

    old: str
    new: str
    commits: list[Commit]
    more_commits: bool
    diff: Diff


def compare_refs(
    repository: Repository, old_name: str, new_name: str, limits: DiffLimits, *, straight: bool
) -> Comparison:
    """Compare two branches, tags or commits, from their merge base unless ``straight``.

    Raise NotFound if one is missing.
    """
    old, new = commit_id_or_none(repository, old_name.strip()), commit_id_or_none(repository, new_name.strip())
    if old is None or new is None:
        raise NotFound("Ref")
    if old == new:
        return Comparison(old, new, [], False, _EMPTY_DIFF)
    # Read one more than is shown, to detect whether there are more.
    oids = commits_between(repository, old, new, MAX_COMMITS + 1)
    base = old if straight else merge_base_or_none(repository, [old, new])
    diff = _EMPTY_DIFF if base == new else diff_between(repository, base, new, limits)
    commits = read_commits(repository, oids[-MAX_COMMITS:])
    return Comparison(old, new, commits, len(oids) > MAX_COMMITS, diff)


def find_merge_base(repository: Repository, names: list[str]) -> Commit:
    """Return the common ancestor of all these refs; raise Invalid or NotFound if there is none."""
    if len(names) < 2:
        raise Invalid("Provide at least 2 refs")
    if len(names) > MAX_REFS:
        raise Invalid(f"Provide at most {MAX_REFS} refs")
    oids = {name: commit_id_or_none(repository, name) for name in names}
    unknown = [name for name, oid in oids.items() if oid is None]
    if unknown:
        raise Invalid(f"Could not find {'ref' if len(unknown) == 1 else 'refs'}: {', '.join(unknown)}")
    base = merge_base_or_none(repository, [oid for oid in (oids[name] for name in names) if oid])
    if base is None:
        raise NotFound("Merge Base")
    return read_commits(repository, [base])[0]


def list_contributors(
    repository: Repository, project: Project, params: ListContributors, page: Page
) -> Listing[Contributor]:
    """List a page of the authors of a ref's commits."""
    tip = commit_id_or_none(repository, params.ref or project.default_branch or "HEAD")
    if tip is None and params.ref:
        raise NotFound("Ref")
    contributors = list(read_contributors(repository, tip)) if tip else []
    order = params.order_by
    if order is not None:
        contributors.sort(key=lambda contributor: getattr(contributor, order), reverse=params.sort == "desc")
    return slice_page(contributors, page)
