"""Endpoints of protected environments."""

from ingot.accounts.audit_events.service import Entity, record_changes
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.environments.protection import queries, service
from ingot.projects.environments.protection.params import EditProtectedEnvironment, ProtectEnvironment
from ingot.projects.environments.protection.tables import ProtectedEnvironment
from ingot.projects.environments.protection.views import (
    ProtectedEnvironmentView,
    description,
    protected_environment_view,
)
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project

routes = Routes("protected environments")


def _rule_in_path(call: Call, parent: Project | Namespace) -> ProtectedEnvironment:
    return queries.find_rule(call.db, parent, call.path["name"])


def _view(call: Call, rule: ProtectedEnvironment) -> ProtectedEnvironmentView:
    return protected_environment_view(rule, queries.entries_of(call.db, [rule]))


def _allowed(call: Call, rule: ProtectedEnvironment | None) -> list[str] | None:
    """Return the names of those who may deploy, for the audit log; None without protection."""
    return None if rule is None else [description(entry) for entry in queries.entries_of(call.db, [rule])]


def _record(call: Call, parent: Project | Namespace, name: str, before: list[str] | None) -> None:
    """Record in the audit log who may deploy now."""
    entity = Entity("Project" if isinstance(parent, Project) else "Group", parent.id, parent.full_path)
    attribute = f"protected_environments.{name}"
    after = _allowed(call, queries.rule_or_none(call.db, parent, name))
    record_changes(call, entity, {attribute: before}, {attribute: after})


@routes.get(
    "/groups/:id/protected_environments",
    on=group_in_path,
    may=may_admin_group,
    returns=list[ProtectedEnvironmentView],
)
@routes.get(
    "/projects/:id/protected_environments",
    on=project_in_path,
    may=may_admin_project,
    returns=list[ProtectedEnvironmentView],
)
def list_protected_environments(
    call: Call, parent: Project | Namespace, page: Page
) -> Listing[ProtectedEnvironmentView]:
    """List the protected environments of a project, or the protected deployment tiers of a group."""
    listing = queries.list_rules(call.db, parent, page)
    entries = queries.entries_of(call.db, listing.items)
    return listing.of([protected_environment_view(rule, entries) for rule in listing.items])


@routes.get(
    "/groups/:id/protected_environments/:name",
    on=group_in_path,
    may=may_admin_group,
    returns=ProtectedEnvironmentView,
)
@routes.get(
    "/projects/:id/protected_environments/:name",
    on=project_in_path,
    may=may_admin_project,
    returns=ProtectedEnvironmentView,
)
def get_protected_environment(call: Call, parent: Project | Namespace) -> ProtectedEnvironmentView:
    """Get the protected environment of a project, or the protected deployment tier of a group."""
    return _view(call, _rule_in_path(call, parent))


@routes.post(
    "/groups/:id/protected_environments",
    on=group_in_path,
    may=may_admin_group,
    returns=ProtectedEnvironmentView,
)
@routes.post(
    "/projects/:id/protected_environments",
    on=project_in_path,
    may=may_change_project,
    returns=ProtectedEnvironmentView,
)
def protect_environment(
    call: Call, parent: Project | Namespace, params: ProtectEnvironment
) -> ProtectedEnvironmentView:
    """Protect an environment of a project, or the environments of a deployment tier in the projects of a group."""
    rule = service.protect_environment(call.db, parent, params)
    _record(call, parent, rule.name, None)
    return _view(call, rule)


@routes.put(
    "/groups/:id/protected_environments/:name",
    on=group_in_path,
    may=may_admin_group,
    returns=ProtectedEnvironmentView,
)
@routes.put(
    "/projects/:id/protected_environments/:name",
    on=project_in_path,
    may=may_change_project,
    returns=ProtectedEnvironmentView,
)
def edit_protected_environment(
    call: Call, parent: Project | Namespace, params: EditProtectedEnvironment
) -> ProtectedEnvironmentView:
    """Change who may deploy to a protected environment."""
    rule = _rule_in_path(call, parent)
    before = _allowed(call, rule)
    service.edit_protected_environment(call.db, parent, rule, params)
    _record(call, parent, rule.name, before)
    return _view(call, rule)


@routes.delete(
    "/groups/:id/protected_environments/:name", on=group_in_path, may=may_admin_group, returns=None, status=204
)
@routes.delete(
    "/projects/:id/protected_environments/:name", on=project_in_path, may=may_change_project, returns=None, status=204
)
def unprotect_environment(call: Call, parent: Project | Namespace) -> None:
    """Remove the protection of an environment."""
    rule = _rule_in_path(call, parent)
    before = _allowed(call, rule)
    service.unprotect_environment(call.db, rule)
    _record(call, parent, rule.name, before)
