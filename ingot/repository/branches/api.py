"""Branches over the API."""

from ingot.api.routes import Call, Routes, Stage
from ingot.db.paging import Listing, Page
from ingot.git.sorted_refs import NamedRef
from ingot.repository.branches import queries, work
from ingot.repository.branches.params import CreateBranch, ListBranches, ProtectBranch
from ingot.repository.branches.views import BranchView, branch_views
from ingot.repository.place import Place, may_protect, may_push_code, may_read_code, place_in_path, project_url
from ingot.repository.protection.service import let_developers, unprotect_branch

routes = Routes("branches")


def _shown(call: Call, place: Place, branch: NamedRef) -> BranchView:
    return branch_views(call.db, call.actor, place, [branch], project_url(call, place.project))[0]


@routes.get(
    "/projects/:id/repository/branches", on=place_in_path, may=may_read_code, returns=list[BranchView], open=True
)
def list_branches(call: Call, place: Place, params: ListBranches, page: Page) -> Listing[BranchView]:
    """List the branches of a repository."""
    found = queries.list_branches(place.repository, place.project, params, page)
    return found.of(branch_views(call.db, call.actor, place, found.items, project_url(call, place.project)))


@routes.get(
    "/projects/:id/repository/branches/:branch",
    on=place_in_path,
    may=may_read_code,
    returns=BranchView,
    open=True,
    slashes="branch",
)
def get_branch(call: Call, place: Place) -> BranchView:
    """Get a branch."""
    return _shown(call, place, queries.find_branch(place.repository, call.path["branch"]))


@routes.put(
    "/projects/:id/repository/branches/:branch/protect",
    on=place_in_path,
    may=may_protect,
    returns=BranchView,
    slashes="branch",
)
def protect_branch(call: Call, place: Place, params: ProtectBranch) -> BranchView:
    """Protect a branch, or change what developers can do with a protected one."""
    branch = queries.find_branch(place.repository, call.path["branch"])
    push, merge = params.developers_can_push, params.developers_can_merge
    let_developers(call.db, place.project, call.path["branch"], push=push, merge=merge)
    return _shown(call, place, branch)


@routes.put(
    "/projects/:id/repository/branches/:branch/unprotect",
    on=place_in_path,
    may=may_protect,
    returns=BranchView,
    slashes="branch",
)
def unprotect_one_branch(call: Call, place: Place) -> BranchView:
    """Stop protecting a branch."""
    branch = queries.find_branch(place.repository, call.path["branch"])
    unprotect_branch(call.db, place.project.id, call.path["branch"])
    return _shown(call, place, branch)


@routes.post("/projects/:id/repository/branches", on=place_in_path, may=may_push_code, returns=BranchView, staged=True)
def create_branch(stage: Stage, place: Place, params: CreateBranch) -> BranchView:
    """Create a branch."""
    branch = work.create_branch(stage.database, stage.actor, place, params.branch, params.ref)
    url = project_url(stage, place.project)
    return stage.database.read(lambda db: branch_views(db, stage.actor, place, [branch], url)[0])


@routes.delete(
    "/projects/:id/repository/branches/:branch",
    on=place_in_path,
    may=may_push_code,
    returns=None,
    staged=True,
    slashes="branch",
)
def delete_branch(stage: Stage, place: Place) -> None:
    """Delete a branch."""
    work.delete_branch(stage.database, stage.actor, place, stage.path["branch"])


@routes.delete(
    "/projects/:id/repository/merged_branches", on=place_in_path, may=may_push_code, returns=None, staged=True
)
def delete_merged_branches(stage: Stage, place: Place) -> None:
    """Delete the branches that are merged into the default branch, but for protected ones."""
    work.delete_merged_branches(stage.database, stage.actor, place)
