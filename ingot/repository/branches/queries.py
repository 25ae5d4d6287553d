"""How branches are found and listed."""

from ingot.db.paging import Listing, Page, cut_page
from ingot.errors import NotFound
from ingot.git.commits import branch_tip
from ingot.git.ref_dates import by_date
from ingot.git.refs import HEADS
from ingot.git.repository import Repository
from ingot.git.sorted_refs import NamedRef, search_refs, sorted_refs
from ingot.projects.tables import Project
from ingot.repository.branches.params import ListBranches


def list_branches(repository: Repository, project: Project, params: ListBranches, page: Page) -> Listing[NamedRef]:
    """A page of a project's branches, by name unless another order is asked for."""
    branches = sorted_refs(repository, HEADS, project.generation)
    if params.search:
        branches = search_refs(branches, params.search)
    if params.sort in ("updated_asc", "updated_desc"):
        branches = by_date(repository, branches, newest_first=params.sort == "updated_desc")
    return cut_page(branches, page)


def find_branch(repository: Repository, name: str) -> NamedRef:
    """The branch of this name, and no other spelling of a commit."""
    tip = branch_tip(repository, name)
    if tip is None:
        raise NotFound("Branch")
    return NamedRef(name.encode(), tip)
