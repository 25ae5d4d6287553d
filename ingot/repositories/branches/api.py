"""Endpoints of branches."""

from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.paging import Listing, Page
from ingot.git.core.sorted_refs import NamedRef
from ingot.repositories.branches import change, queries
from ingot.repositories.branches.params import CreateBranch, ListBranches, ProtectBranch
from ingot.repositories.branches.views import BranchView, branch_views
from ingot.repositories.context import (
    RepositoryContext,
    may_protect,
    may_push_code,
    may_read_code,
    project_url,
    repository_in_path,
    repository_state,
)
from ingot.repositories.protection.service import set_developer_permissions, unprotect_branch

routes = Routes("branches")


def _branch_view(call: Call, context: RepositoryContext, branch: NamedRef) -> BranchView:
    return branch_views(call.db, call.actor, context, [branch], project_url(call, context.project))[0]


@routes.get(
    "/projects/:id/repository/branches",
    on=repository_in_path,
    may=may_read_code,
    returns=list[BranchView],
    open=True,
    cached=repository_state,
)
def list_branches(call: Call, context: RepositoryContext, params: ListBranches, page: Page) -> Listing[BranchView]:
    """List the branches of a repository."""
    listing = queries.list_branches(context.repository, context.project, params, page)
    return listing.of(branch_views(call.db, call.actor, context, listing.items, project_url(call, context.project)))


@routes.get(
    "/projects/:id/repository/branches/:branch",
    on=repository_in_path,
    may=may_read_code,
    returns=BranchView,
    open=True,
    slashes="branch",
    cached=repository_state,
)
def get_branch(call: Call, context: RepositoryContext) -> BranchView:
    """Get a branch."""
    return _branch_view(call, context, queries.find_branch(context.repository, call.path["branch"]))


@routes.put(
    "/projects/:id/repository/branches/:branch/protect",
    on=repository_in_path,
    may=may_protect,
    returns=BranchView,
    slashes="branch",
)
def protect_branch(call: Call, context: RepositoryContext, params: ProtectBranch) -> BranchView:
    """Protect a branch, or change the permissions of developers on a protected one."""
    branch = queries.find_branch(context.repository, call.path["branch"])
    push, merge = params.developers_can_push, params.developers_can_merge
    set_developer_permissions(call.db, context.project, call.path["branch"], push=push, merge=merge)
    return _branch_view(call, context, branch)


@routes.put(
    "/projects/:id/repository/branches/:branch/unprotect",
    on=repository_in_path,
    may=may_protect,
    returns=BranchView,
    slashes="branch",
)
def unprotect_one_branch(call: Call, context: RepositoryContext) -> BranchView:
    """Stop protecting a branch."""
    branch = queries.find_branch(context.repository, call.path["branch"])
    unprotect_branch(call.db, context.project.id, call.path["branch"])
    return _branch_view(call, context, branch)


@routes.post(
    "/projects/:id/repository/branches", on=repository_in_path, may=may_push_code, returns=BranchView, staged=True
)
def create_branch(stage: StagedCall, context: RepositoryContext, params: CreateBranch) -> BranchView:
    """Create a branch."""
    branch = change.create_branch(stage.database, stage.actor, context, params.branch, params.ref)
    url = project_url(stage, context.project)
    return stage.database.read(lambda db: branch_views(db, stage.actor, context, [branch], url)[0])


@routes.delete(
    "/projects/:id/repository/branches/:branch",
    on=repository_in_path,
    may=may_push_code,
    returns=None,
    staged=True,
    slashes="branch",
)
def delete_branch(stage: StagedCall, context: RepositoryContext) -> None:
    """Delete a branch."""
    change.delete_branch(stage.database, stage.actor, context, stage.path["branch"])


@routes.delete(
    "/projects/:id/repository/merged_branches", on=repository_in_path, may=may_push_code, returns=None, staged=True
)
def delete_merged_branches(stage: StagedCall, context: RepositoryContext) -> None:
    """Delete the branches that are merged into the default branch, except protected ones."""
    change.delete_merged_branches(stage.database, stage.actor, context)
