"""Endpoints of the protection rules of packages."""

from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.packages.protection import policy, queries, service
from ingot.packages.protection.params import CreatePackageRule, EditPackageRule
from ingot.packages.protection.views import PackageRuleView, package_rule_view
from ingot.packages.records.tables import package_protection_rules
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project

routes = Routes("packages")


@routes.get(
    "/projects/:id/packages/protection/rules",
    on=project_in_path,
    may=policy.may_manage_package_rules,
    returns=list[PackageRuleView],
)
def list_package_rules(call: Call, project: Project, page: Page) -> Listing[PackageRuleView]:
    """List the protection rules of packages."""
    listing = queries.list_package_rules(call.db, project.id, page)
    return listing.of([package_rule_view(rule) for rule in listing.items])


@routes.post(
    "/projects/:id/packages/protection/rules",
    on=project_in_path,
    may=policy.may_manage_package_rules,
    returns=PackageRuleView,
    conflict=422,
)
def create_package_rule(call: Call, project: Project, params: CreatePackageRule) -> PackageRuleView:
    """Create a protection rule of packages."""
    return package_rule_view(service.create_package_rule(call.db, project, params))


@routes.patch(
    "/projects/:id/packages/protection/rules/:package_protection_rule_id",
    on=project_in_path,
    may=policy.may_manage_package_rules,
    returns=PackageRuleView,
    conflict=422,
)
def edit_package_rule(call: Call, project: Project, params: EditPackageRule) -> PackageRuleView:
    """Change a protection rule of packages."""
    rule = queries.find_package_rule(call.db, project.id, path_number(call.path, "package_protection_rule_id"))
    return package_rule_view(service.edit_package_rule(call.db, project, rule, params))


@routes.delete(
    "/projects/:id/packages/protection/rules/:package_protection_rule_id",
    on=project_in_path,
    may=policy.may_manage_package_rules,
    returns=None,
    status=204,
)
def delete_package_rule(call: Call, project: Project) -> None:
    """Delete a protection rule of packages."""
    rule = queries.find_package_rule(call.db, project.id, path_number(call.path, "package_protection_rule_id"))
    call.db.delete(package_protection_rules, rule.id)
