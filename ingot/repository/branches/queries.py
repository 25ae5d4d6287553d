"""How branches are found and listed."""

from collections.abc import Iterable

from ingot.db.paging import Listing, Page, cut_page
from ingot.errors import NotFound
from ingot.git.commits import branch_tip, decoded, read_commits
from ingot.git.refs import HEADS
from ingot.git.repository import Repository
from ingot.git.sorted_refs import NamedRef, sorted_refs
from ingot.projects.tables import Project
from ingot.repository.branches.params import ListBranches


def list_branches(repository: Repository, project: Project, params: ListBranches, page: Page) -> Listing[NamedRef]:
    """A page of a project's branches, by name unless another order is asked for."""
    branches = sorted_refs(repository, HEADS, project.generation)
    if params.search:
        branches = [branch for branch in branches if _matches(decoded(branch.name), params.search)]
    if params.sort in ("updated_asc", "updated_desc"):
        branches = _by_date(repository, branches, newest_first=params.sort == "updated_desc")
    return cut_page(branches, page)


def find_branch(repository: Repository, name: str) -> NamedRef:
    """The branch of this name, and no other spelling of a commit."""
    tip = branch_tip(repository, name)
    if tip is None:
        raise NotFound("Branch")
    return NamedRef(name.encode(), tip)


def _matches(name: str, search: str) -> bool:
    """A text anywhere in the name, whatever its case; ``^`` and ``$`` tie it to the beginning and the end."""
    name, search = name.casefold(), search.casefold()
    begins, ends = search.startswith("^"), search.endswith("$")
    text = search.removeprefix("^").removesuffix("$")
    if begins and ends:
        return name == text
    if begins:
        return name.startswith(text)
    return name.endswith(text) if ends else text in name


def _by_date(repository: Repository, branches: Iterable[NamedRef], *, newest_first: bool) -> list[NamedRef]:
    found = list(branches)
    dates = {commit.oid: commit.committer.time for commit in read_commits(repository, [branch.oid for branch in found])}
    return sorted(found, key=lambda branch: dates[branch.oid], reverse=newest_first)
