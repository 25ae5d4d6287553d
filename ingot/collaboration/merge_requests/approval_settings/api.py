"""Endpoints of approval rules, approval settings and the state of approvals."""

from ingot.collaboration.merge_requests.approval_rules import queries
from ingot.collaboration.merge_requests.approval_rules.state import approval_state
from ingot.collaboration.merge_requests.approval_rules.tables import ApprovalRule
from ingot.collaboration.merge_requests.approval_rules.views import ApprovalsView
from ingot.collaboration.merge_requests.approval_settings import service
from ingot.collaboration.merge_requests.approval_settings.params import (
    CreateApprovalRule,
    CreateProjectApprovalRule,
    EditApprovalRule,
    EditApprovalSettings,
    EditProjectApprovalRule,
    SetRequiredApprovals,
)
from ingot.collaboration.merge_requests.approval_settings.views import (
    ApprovalRuleView,
    ApprovalSettingsView,
    ApprovalStateView,
    ProjectApprovalRuleView,
    approval_rule_views,
    approval_settings_view,
    approval_state_view,
    project_approval_rule_views,
)
from ingot.collaboration.merge_requests.approvals import approvals_as_view
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.policy import (
    MergeRequestLookup,
    may_change_approval_rules,
    may_read_approval_rules,
    may_read_merge_request,
)
from ingot.collaboration.merge_requests.queries import find_merge_request
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_change_project
from ingot.projects.projects.setting_records import record_project_changes
from ingot.projects.projects.tables import Project

routes = Routes("approvals")


@routes.get("/projects/:id/approvals", on=project_in_path, may=may_read_approval_rules, returns=ApprovalSettingsView)
def get_approval_settings(call: Call, project: Project) -> ApprovalSettingsView:
    """Get the approval settings of a project."""
    return approval_settings_view(call.db, project)


@routes.post("/projects/:id/approvals", on=project_in_path, may=may_change_project, returns=ApprovalSettingsView)
def edit_approval_settings(call: Call, project: Project, params: EditApprovalSettings) -> ApprovalSettingsView:
    """Change the approval settings of a project."""
    edited = service.edit_approval_settings(call.db, project, params)
    record_project_changes(call, project, edited)
    return approval_settings_view(call.db, edited)


@routes.get(
    "/projects/:id/approval_rules",
    on=project_in_path,
    may=may_read_approval_rules,
    returns=list[ProjectApprovalRuleView],
)
def list_project_approval_rules(call: Call, project: Project, page: Page) -> Listing[ProjectApprovalRuleView]:
    """List the approval rules of a project."""
    listing = slice_page(queries.project_approval_rules(call.db, project.id), page)
    return listing.of(
        project_approval_rule_views(call.db, call.actor, project, listing.items, call.origin.base),
    )


@routes.get(
    "/projects/:id/approval_rules/:approval_rule_id",
    on=project_in_path,
    may=may_read_approval_rules,
    returns=ProjectApprovalRuleView,
)
def get_project_approval_rule(call: Call, project: Project) -> ProjectApprovalRuleView:
    """Get an approval rule of a project."""
    return _project_rule_view(call, project, _project_rule_in_path(call, project))


@routes.post(
    "/projects/:id/approval_rules", on=project_in_path, may=may_change_project, returns=ProjectApprovalRuleView
)
def create_project_approval_rule(
    call: Call, project: Project, params: CreateProjectApprovalRule
) -> ProjectApprovalRuleView:
    """Create an approval rule of a project."""
    rule = service.create_approval_rule(call.db, call.actor, project, None, params)
    return _project_rule_view(call, project, rule)


@routes.put(
    "/projects/:id/approval_rules/:approval_rule_id",
    on=project_in_path,
    may=may_change_project,
    returns=ProjectApprovalRuleView,
)
def edit_project_approval_rule(
    call: Call, project: Project, params: EditProjectApprovalRule
) -> ProjectApprovalRuleView:
    """Change an approval rule of a project."""
    rule = _project_rule_in_path(call, project)
    return _project_rule_view(call, project, service.edit_approval_rule(call.db, call.actor, project, rule, params))


@routes.delete(
    "/projects/:id/approval_rules/:approval_rule_id",
    on=project_in_path,
    may=may_change_project,
    returns=None,
    status=204,
)
def delete_project_approval_rule(call: Call, project: Project) -> None:
    """Delete an approval rule of a project."""
    service.delete_approval_rule(call.db, _project_rule_in_path(call, project))


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/approval_state",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=ApprovalStateView,
)
def get_approval_state(call: Call, lookup: MergeRequestLookup) -> ApprovalStateView:
    """Get the approval rules of a merge request, with their approvals."""
    state = approval_state(call.db, lookup.merge_request, lookup.project.options)
    return approval_state_view(call.db, call.actor, state, call.origin.base)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/approval_settings",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=ApprovalStateView,
)
def get_merge_request_approval_settings(call: Call, lookup: MergeRequestLookup) -> ApprovalStateView:
    """Get the approval rules of a merge request, with the path of earlier versions."""
    return get_approval_state(call, lookup)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/approvals",
    on=merge_request_in_path,
    may=may_change_approval_rules,
    returns=ApprovalsView,
)
def set_required_approvals(call: Call, lookup: MergeRequestLookup, params: SetRequiredApprovals) -> ApprovalsView:
    """Set the number of approvals that a merge request requires from any users."""
    required = params.approvals_required
    service.set_required_approvals(call.db, call.actor, lookup.project, lookup.merge_request, required)
    return approvals_as_view(
        call, find_merge_request(call.db, call.actor, call.path["id"], call.path["merge_request_iid"])
    )


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/approval_rules",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=list[ApprovalRuleView],
)
def list_approval_rules(call: Call, lookup: MergeRequestLookup, page: Page) -> Listing[ApprovalRuleView]:
    """List the approval rules of a merge request: its own, else those of the project."""
    state = approval_state(call.db, lookup.merge_request, lookup.project.options)
    listing = slice_page([rule_state.rule for rule_state in state.rules], page)
    return listing.of(approval_rule_views(call.db, call.actor, listing.items, call.origin.base))


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/approval_rules/:approval_rule_id",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=ApprovalRuleView,
)
def get_approval_rule(call: Call, lookup: MergeRequestLookup) -> ApprovalRuleView:
    """Get an approval rule of a merge request."""
    return _rule_view(call, _rule_in_path(call, lookup))


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/approval_rules",
    on=merge_request_in_path,
    may=may_change_approval_rules,
    returns=ApprovalRuleView,
)
def create_approval_rule(call: Call, lookup: MergeRequestLookup, params: CreateApprovalRule) -> ApprovalRuleView:
    """Create an approval rule of a merge request; its own rules replace those of the project."""
    rule = service.create_approval_rule(call.db, call.actor, lookup.project, lookup.merge_request, params)
    return _rule_view(call, rule)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/approval_rules/:approval_rule_id",
    on=merge_request_in_path,
    may=may_change_approval_rules,
    returns=ApprovalRuleView,
)
def edit_approval_rule(call: Call, lookup: MergeRequestLookup, params: EditApprovalRule) -> ApprovalRuleView:
    """Change an approval rule of a merge request."""
    rule = _rule_in_path(call, lookup)
    return _rule_view(call, service.edit_approval_rule(call.db, call.actor, lookup.project, rule, params))


@routes.delete(
    "/projects/:id/merge_requests/:merge_request_iid/approval_rules/:approval_rule_id",
    on=merge_request_in_path,
    may=may_change_approval_rules,
    returns=None,
    status=204,
)
def delete_approval_rule(call: Call, lookup: MergeRequestLookup) -> None:
    """Delete an approval rule of a merge request."""
    service.delete_approval_rule(call.db, _rule_in_path(call, lookup))


def _project_rule_in_path(call: Call, project: Project) -> ApprovalRule:
    rules = queries.project_approval_rules(call.db, project.id)
    return queries.find_approval_rule(rules, path_number(call.path, "approval_rule_id"))


def _rule_in_path(call: Call, lookup: MergeRequestLookup) -> ApprovalRule:
    rules = queries.merge_request_approval_rules(call.db, lookup.merge_request.id)
    return queries.find_approval_rule(rules, path_number(call.path, "approval_rule_id"))


def _project_rule_view(call: Call, project: Project, rule: ApprovalRule) -> ProjectApprovalRuleView:
    return project_approval_rule_views(call.db, call.actor, project, [rule], call.origin.base)[0]


def _rule_view(call: Call, rule: ApprovalRule) -> ApprovalRuleView:
    return approval_rule_views(call.db, call.actor, [rule], call.origin.base)[0]
