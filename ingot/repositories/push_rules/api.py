"""Endpoints of push rules."""

from ingot.core.api.routes import Call, Routes
from ingot.core.errors import NotFound
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project
from ingot.repositories.push_rules.params import EditPushRule
from ingot.repositories.push_rules.service import MISSING, delete_push_rule, save_push_rule
from ingot.repositories.push_rules.views import GroupPushRuleView, PushRuleView, group_push_rule_view, push_rule_view

routes = Routes("push_rules")


@routes.get("/projects/:id/push_rule", on=project_in_path, may=may_admin_project, returns=PushRuleView | None)
def get_push_rule(call: Call, project: Project) -> PushRuleView | None:  # noqa: ARG001 - The kernel passes the call.
    """Get the push rule of a project, or null."""
    rule = project.options.push_rule
    return None if rule is None else push_rule_view(project, rule)


@routes.post("/projects/:id/push_rule", on=project_in_path, may=may_change_project, returns=PushRuleView)
def add_push_rule(call: Call, project: Project, params: EditPushRule) -> PushRuleView:
    """Add a push rule to a project."""
    return push_rule_view(project, save_push_rule(call.db, project, params, creates=True))


@routes.put("/projects/:id/push_rule", on=project_in_path, may=may_change_project, returns=PushRuleView)
def edit_push_rule(call: Call, project: Project, params: EditPushRule) -> PushRuleView:
    """Change the push rule of a project."""
    return push_rule_view(project, save_push_rule(call.db, project, params, creates=False))


@routes.delete("/projects/:id/push_rule", on=project_in_path, may=may_change_project, returns=None, status=204)
def remove_push_rule(call: Call, project: Project) -> None:
    """Delete the push rule of a project."""
    delete_push_rule(call.db, project)


@routes.get("/groups/:id/push_rule", on=group_in_path, may=may_admin_group, returns=GroupPushRuleView)
def get_group_push_rule(call: Call, group: Namespace) -> GroupPushRuleView:  # noqa: ARG001 - The kernel passes the call.
    """Get the push rule of a group."""
    if group.options.push_rule is None:
        raise NotFound(MISSING)
    return group_push_rule_view(group, group.options.push_rule)


@routes.post("/groups/:id/push_rule", on=group_in_path, may=may_admin_group, returns=GroupPushRuleView)
def add_group_push_rule(call: Call, group: Namespace, params: EditPushRule) -> GroupPushRuleView:
    """Add a push rule to a group; its new projects begin with a copy."""
    return group_push_rule_view(group, save_push_rule(call.db, group, params, creates=True))


@routes.put("/groups/:id/push_rule", on=group_in_path, may=may_admin_group, returns=GroupPushRuleView)
def edit_group_push_rule(call: Call, group: Namespace, params: EditPushRule) -> GroupPushRuleView:
    """Change the push rule of a group."""
    return group_push_rule_view(group, save_push_rule(call.db, group, params, creates=False))


@routes.delete("/groups/:id/push_rule", on=group_in_path, may=may_admin_group, returns=None, status=204)
def remove_group_push_rule(call: Call, group: Namespace) -> None:
    """Delete the push rule of a group."""
    delete_push_rule(call.db, group)
