"""Endpoints of protected branches and tags."""

from msgspec import UNSET

from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project
from ingot.repositories.protection import queries, service
from ingot.repositories.protection.params import AddBranchRule, AddTagRule, EditBranchRule, ListRules
from ingot.repositories.protection.service import requested_level, requested_push_level
from ingot.repositories.protection.views import (
    ProtectedBranchView,
    ProtectedTagView,
    protected_branch_view,
    protected_tag_view,
)

routes = Routes("protected references")


@routes.get(
    "/projects/:id/protected_branches", on=project_in_path, may=may_admin_project, returns=list[ProtectedBranchView]
)
def list_protected_branches(
    call: Call, project: Project, params: ListRules, page: Page
) -> Listing[ProtectedBranchView]:
    """List the protected branches of a project."""
    search = params.search.casefold()
    rules = [rule for rule in queries.branch_rules(call.db, project.id) if search in rule.name.casefold()]
    listing = slice_page(rules, page)
    keys = queries.deploy_keys_by_rule(call.db, project.id)
    return listing.of([protected_branch_view(rule, keys) for rule in listing.items])


@routes.get(
    "/projects/:id/protected_branches/:name", on=project_in_path, may=may_admin_project, returns=ProtectedBranchView
)
def get_protected_branch(call: Call, project: Project) -> ProtectedBranchView:
    """Get the protection rule with exactly this name, which may contain wildcards."""
    rule = queries.find_branch_rule(call.db, project.id, call.path["name"])
    return protected_branch_view(rule, queries.deploy_keys_by_rule(call.db, project.id))


@routes.post(
    "/projects/:id/protected_branches", on=project_in_path, may=may_change_project, returns=ProtectedBranchView
)
def add_protected_branch(call: Call, project: Project, params: AddBranchRule) -> ProtectedBranchView:
    """Protect a branch, or all branches that match a wildcard."""
    rule = service.add_branch_rule(
        call.db,
        project,
        params.name,
        requested_push_level(params.push_access_level, params.allowed_to_push),
        requested_level("allowed_to_merge", params.merge_access_level, params.allowed_to_merge),
        allow_force_push=params.allow_force_push,
    )
    service.change_deploy_keys(call.db, project, rule, params.allowed_to_push)
    return protected_branch_view(rule, queries.deploy_keys_by_rule(call.db, project.id))


@routes.patch(
    "/projects/:id/protected_branches/:name", on=project_in_path, may=may_change_project, returns=ProtectedBranchView
)
def edit_protected_branch(call: Call, project: Project, params: EditBranchRule) -> ProtectedBranchView:
    """Change the permissions on a protected branch."""
    rule = queries.find_branch_rule(call.db, project.id, call.path["name"])
    allow_force_push = rule.allow_force_push if params.allow_force_push is UNSET else params.allow_force_push
    rule = service.protect_branch(
        call.db,
        project.id,
        rule.name,
        requested_push_level(params.push_access_level, params.allowed_to_push, rule.push_level),
        requested_level("allowed_to_merge", params.merge_access_level, params.allowed_to_merge, rule.merge_level),
        allow_force_push=allow_force_push,
    )
    service.change_deploy_keys(call.db, project, rule, params.allowed_to_push)
    return protected_branch_view(rule, queries.deploy_keys_by_rule(call.db, project.id))


@routes.delete("/projects/:id/protected_branches/:name", on=project_in_path, may=may_change_project, returns=None)
def remove_protected_branch(call: Call, project: Project) -> None:
    """Remove the protection rule with exactly this name."""
    service.unprotect_branch(call.db, project.id, call.path["name"])


@routes.get("/projects/:id/protected_tags", on=project_in_path, may=may_admin_project, returns=list[ProtectedTagView])
def list_protected_tags(call: Call, project: Project, page: Page) -> Listing[ProtectedTagView]:
    """List the protected tags of a project."""
    listing = slice_page(queries.tag_rules(call.db, project.id), page)
    return listing.of([protected_tag_view(rule) for rule in listing.items])


@routes.get("/projects/:id/protected_tags/:name", on=project_in_path, may=may_admin_project, returns=ProtectedTagView)
def get_protected_tag(call: Call, project: Project) -> ProtectedTagView:
    """Get the protection rule with exactly this name, which may contain wildcards."""
    return protected_tag_view(queries.find_tag_rule(call.db, project.id, call.path["name"]))


@routes.post("/projects/:id/protected_tags", on=project_in_path, may=may_change_project, returns=ProtectedTagView)
def add_protected_tag(call: Call, project: Project, params: AddTagRule) -> ProtectedTagView:
    """Protect a tag, or all tags that match a wildcard."""
    level = requested_level("allowed_to_create", params.create_access_level, params.allowed_to_create)
    return protected_tag_view(service.add_tag_rule(call.db, project, params.name, level))


@routes.delete("/projects/:id/protected_tags/:name", on=project_in_path, may=may_change_project, returns=None)
def remove_protected_tag(call: Call, project: Project) -> None:
    """Remove the protection rule with exactly this name."""
    service.unprotect_tag(call.db, project.id, call.path["name"])
