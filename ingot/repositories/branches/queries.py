"""Queries of branches."""

from collections.abc import Sequence

from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.errors import NotFound
from ingot.git.core.refs import HEADS
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import NamedRef, search_refs, sorted_refs
from ingot.git.history.commits import branch_tip
from ingot.git.history.ref_dates import sort_by_date
from ingot.projects.projects.tables import Project
from ingot.repositories.branches.params import ListBranches


def list_branches(repository: Repository, project: Project, params: ListBranches, page: Page) -> Listing[NamedRef]:
    """List a page of a project's branches, by name unless another order is requested."""
    branches: Sequence[NamedRef] = sorted_refs(repository, HEADS, project.generation)
    if params.search:
        branches = search_refs(branches, params.search)
    if params.sort in ("updated_asc", "updated_desc"):
        branches = sort_by_date(repository, branches, newest_first=params.sort == "updated_desc")
    return slice_page(branches, page)


def find_branch(repository: Repository, name: str) -> NamedRef:
    """Return the branch with this name (commit ids are not accepted); raise NotFound otherwise."""
    tip = branch_tip(repository, name)
    if tip is None:
        raise NotFound("Branch")
    return NamedRef(name.encode(), tip)
