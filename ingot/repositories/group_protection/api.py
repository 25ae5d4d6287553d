"""Endpoints of the protected branches of groups."""

from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.namespaces.tables import Namespace
from ingot.repositories.group_protection import queries, service
from ingot.repositories.protection.params import AddBranchRule, EditBranchRule, ListRules
from ingot.repositories.protection.views import ProtectedBranchView, protected_branch_view

routes = Routes("group protected branches")


@routes.get("/groups/:id/protected_branches", on=group_in_path, may=may_admin_group, returns=list[ProtectedBranchView])
def list_group_protected_branches(
    call: Call, group: Namespace, params: ListRules, page: Page
) -> Listing[ProtectedBranchView]:
    """List the protected branches of a group."""
    search = params.search.casefold()
    rules = [rule for rule in queries.group_branch_rules(call.db, group.id) if search in rule.name.casefold()]
    listing = slice_page(rules, page)
    return listing.of([protected_branch_view(rule, {}) for rule in listing.items])


@routes.get("/groups/:id/protected_branches/:name", on=group_in_path, may=may_admin_group, returns=ProtectedBranchView)
def get_group_protected_branch(call: Call, group: Namespace) -> ProtectedBranchView:
    """Get the protection rule of a group with exactly this name."""
    return protected_branch_view(queries.find_group_branch_rule(call.db, group.id, call.path["name"]), {})


@routes.post("/groups/:id/protected_branches", on=group_in_path, may=may_admin_group, returns=ProtectedBranchView)
def add_group_protected_branch(call: Call, group: Namespace, params: AddBranchRule) -> ProtectedBranchView:
    """Protect a branch, or all branches that match a wildcard, in all projects of a group."""
    return protected_branch_view(service.add_group_branch_rule(call.db, group, params), {})


@routes.patch(
    "/groups/:id/protected_branches/:name", on=group_in_path, may=may_admin_group, returns=ProtectedBranchView
)
def edit_group_protected_branch(call: Call, group: Namespace, params: EditBranchRule) -> ProtectedBranchView:
    """Change the permissions on a protected branch of a group."""
    rule = queries.find_group_branch_rule(call.db, group.id, call.path["name"])
    return protected_branch_view(service.edit_group_branch_rule(call.db, group, rule, params), {})


@routes.delete("/groups/:id/protected_branches/:name", on=group_in_path, may=may_admin_group, returns=None, status=204)
def remove_group_protected_branch(call: Call, group: Namespace) -> None:
    """Remove the protection rule of a group with exactly this name."""
    service.remove_group_branch_rule(call.db, queries.find_group_branch_rule(call.db, group.id, call.path["name"]))
