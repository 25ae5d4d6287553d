"""How references are compared."""

from typing import NamedTuple

from ingot.db.paging import Listing, Page, cut_page
from ingot.errors import Invalid, NotFound
from ingot.git.bases import merge_base
from ingot.git.commits import Commit, commit_id, read_commits
from ingot.git.contributors import Contributor, contributors_of
from ingot.git.diffs import Diff, diff_between
from ingot.git.history import commits_between
from ingot.git.repository import Repository
from ingot.projects.tables import Project
from ingot.repository.comparing.params import ListContributors

MOST_COMMITS = 1000
MOST_REFS = 100
_NOTHING = Diff(())


class Comparison(NamedTuple):
    """What leads from one commit to another; of the commits there are the newest, oldest first."""

    old: str
    new: str
    commits: list[Commit]
    more_commits: bool
    diff: Diff


def compare(repository: Repository, old_name: str, new_name: str, *, straight: bool) -> Comparison:
    """Compare two branches, tags or commits: from where they parted, unless it is to be straight."""
    old, new = commit_id(repository, old_name.strip()), commit_id(repository, new_name.strip())
    if old is None or new is None:
        raise NotFound("Ref")
    if old == new:
        return Comparison(old, new, [], False, _NOTHING)
    # One more than is shown tells whether there are more.
    oids = commits_between(repository, old, new, MOST_COMMITS + 1)
    base = old if straight else merge_base(repository, [old, new])
    diff = _NOTHING if base == new else diff_between(repository, base, new)
    commits = read_commits(repository, oids[-MOST_COMMITS:])
    return Comparison(old, new, commits, len(oids) > MOST_COMMITS, diff)


def find_merge_base(repository: Repository, names: list[str]) -> Commit:
    """The commit in which all of these have parted."""
    if len(names) < 2:
        raise Invalid("Provide at least 2 refs")
    if len(names) > MOST_REFS:
        raise Invalid(f"Provide at most {MOST_REFS} refs")
    found = {name: commit_id(repository, name) for name in names}
    unknown = [name for name, oid in found.items() if oid is None]
    if unknown:
        raise Invalid(f"Could not find {'ref' if len(unknown) == 1 else 'refs'}: {', '.join(unknown)}")
    base = merge_base(repository, [oid for oid in (found[name] for name in names) if oid])
    if base is None:
        raise NotFound("Merge Base")
    return read_commits(repository, [base])[0]


def list_contributors(
    repository: Repository, project: Project, params: ListContributors, page: Page
) -> Listing[Contributor]:
    """A page of those who wrote a branch."""
    tip = commit_id(repository, params.ref or project.default_branch or "HEAD")
    if tip is None and params.ref:
        raise NotFound("Ref")
    found = list(contributors_of(repository, tip)) if tip else []
    order = params.order_by
    if order is not None:
        found.sort(key=lambda contributor: getattr(contributor, order), reverse=params.sort == "desc")
    return cut_page(found, page)
