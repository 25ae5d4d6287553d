"""Endpoints of the labels of projects and groups."""

from ingot.collaboration.labels import policy, queries, service
from ingot.collaboration.labels.params import (
    CreateGroupLabel,
    CreateLabel,
    EditGroupLabel,
    EditLabel,
    EditNamedGroupLabel,
    EditNamedLabel,
    GetLabel,
    ListGroupLabels,
    ListLabels,
    NamedLabel,
)
from ingot.collaboration.labels.policy import LabelProjectLookup
from ingot.collaboration.labels.tables import Label
from ingot.collaboration.labels.views import LabelView, group_label_views, project_label_views
from ingot.collaboration.subscriptions.queries import explicit_subscription
from ingot.collaboration.subscriptions.service import set_subscription
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.api.params import MissingParameter, given_fields
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid, NotFound, Unchanged
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.groups.queries import find_group
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.parents import member_source
from ingot.projects.projects.queries import find_project

routes = Routes("labels")


def label_project_in_path(call: Call) -> tuple[Access, LabelProjectLookup]:
    """Find the project in the path and the caller's access to it."""
    access, project = find_project(call.db, call.actor, call.path["id"])
    return access, LabelProjectLookup(access, project)


def _source(lookup: LabelProjectLookup | Namespace) -> MemberSource:
    return member_source(lookup.project if isinstance(lookup, LabelProjectLookup) else lookup)


def _label_as_view(call: Call, lookup: LabelProjectLookup | Namespace, label: Label) -> LabelView:
    if isinstance(lookup, LabelProjectLookup):
        return project_label_views(call.db, call.actor, lookup.access, lookup.project, [label])[0]
    return group_label_views(call.db, call.actor, [label])[0]


def _label_name(params: EditNamedLabel | EditNamedGroupLabel | NamedLabel) -> str:
    """Return the id or title of the label from the parameters, for endpoints without a label in the path."""
    if params.label_id is not None:
        return str(params.label_id)
    if not params.name:
        raise MissingParameter("name")
    return params.name


def _edit(call: Call, lookup: LabelProjectLookup | Namespace, name: str, params: EditGroupLabel) -> LabelView:
    if not given_fields(params, "name", "label_id"):
        raise MissingParameter("new_name")
    label = queries.find_label(call.db, _source(lookup), name, own=True)
    return _label_as_view(call, lookup, service.edit_label(call.db, _source(lookup), label, params))


def _delete(call: Call, lookup: LabelProjectLookup | Namespace, name: str) -> bool:
    label = queries.label_or_none(call.db, _source(lookup), name, own=True)
    if label is not None:
        service.delete_label(call.db, label)
    return label is not None


def _set_subscription(call: Call, lookup: LabelProjectLookup | Namespace, *, following: bool) -> LabelView:
    label = queries.find_label(call.db, _source(lookup), call.path["label_id"])
    if bool(explicit_subscription(call.db, call.actor.user_id, "label", label.id)) is following:
        raise Unchanged
    set_subscription(call.db, call.actor.user_id, "label", label.id, following=following)
    return _label_as_view(call, lookup, label)


@routes.get(
    "/projects/:id/labels",
    on=label_project_in_path,
    may=policy.may_read_labels,
    returns=list[LabelView],
    cached=True,
)
def list_project_labels(call: Call, lookup: LabelProjectLookup, params: ListLabels, page: Page) -> Listing[LabelView]:
    """List the labels of a project and of its ancestor groups."""
    listing = queries.list_labels(call.db, call.actor, _source(lookup), params, page)
    return listing.of(
        project_label_views(
            call.db, call.actor, lookup.access, lookup.project, listing.items, counts=params.with_counts
        )
    )


@routes.get("/groups/:id/labels", on=group_in_path, may=may_see_group, returns=list[LabelView], cached=True)
def list_group_labels(call: Call, group: Namespace, params: ListGroupLabels, page: Page) -> Listing[LabelView]:
    """List the labels of a group and of its ancestor groups."""
    listing = queries.list_labels(call.db, call.actor, _source(group), params, page)
    return listing.of(group_label_views(call.db, call.actor, listing.items, counts=params.with_counts))


@routes.get("/groups/:id/labels/:label_id", on=group_in_path, may=may_see_group, returns=LabelView)
@routes.get("/projects/:id/labels/:label_id", on=label_project_in_path, may=policy.may_read_labels, returns=LabelView)
def get_label(call: Call, lookup: LabelProjectLookup | Namespace, params: GetLabel) -> LabelView:
    """Get a label of a project or group by number or title."""
    own = not params.include_ancestor_groups
    return _label_as_view(call, lookup, queries.find_label(call.db, _source(lookup), call.path["label_id"], own=own))


@routes.post("/projects/:id/labels", on=label_project_in_path, may=policy.may_admin_labels, returns=LabelView)
def create_project_label(call: Call, lookup: LabelProjectLookup, params: CreateLabel) -> LabelView:
    """Create a label of a project."""
    return _label_as_view(call, lookup, service.create_label(call.db, _source(lookup), params))


@routes.post("/groups/:id/labels", on=group_in_path, may=policy.may_admin_group_labels, returns=LabelView)
def create_group_label(call: Call, group: Namespace, params: CreateGroupLabel) -> LabelView:
    """Create a label of a group, for all projects in it."""
    return _label_as_view(call, group, service.create_label(call.db, _source(group), params))


@routes.put("/projects/:id/labels", on=label_project_in_path, may=policy.may_admin_labels, returns=LabelView)
def edit_named_project_label(call: Call, lookup: LabelProjectLookup, params: EditNamedLabel) -> LabelView:
    """Edit the label of a project that has this name."""
    return _edit(call, lookup, _label_name(params), params)


@routes.put("/groups/:id/labels", on=group_in_path, may=policy.may_admin_group_labels, returns=LabelView)
def edit_named_group_label(call: Call, group: Namespace, params: EditNamedGroupLabel) -> LabelView:
    """Edit the label of a group that has this name."""
    return _edit(call, group, _label_name(params), params)


@routes.put("/projects/:id/labels/:label_id", on=label_project_in_path, may=policy.may_admin_labels, returns=LabelView)
def edit_project_label(call: Call, lookup: LabelProjectLookup, params: EditLabel) -> LabelView:
    """Edit a label of a project."""
    return _edit(call, lookup, call.path["label_id"], params)


@routes.put("/groups/:id/labels/:label_id", on=group_in_path, may=policy.may_admin_group_labels, returns=LabelView)
def edit_group_label(call: Call, group: Namespace, params: EditGroupLabel) -> LabelView:
    """Edit a label of a group."""
    return _edit(call, group, call.path["label_id"], params)


@routes.delete("/groups/:id/labels", on=group_in_path, may=policy.may_admin_group_labels, returns=None)
@routes.delete("/projects/:id/labels", on=label_project_in_path, may=policy.may_admin_labels, returns=None)
def delete_named_label(call: Call, lookup: LabelProjectLookup | Namespace, params: NamedLabel) -> None:
    """Delete the label of a project or group that has this name."""
    if not _delete(call, lookup, _label_name(params)):
        raise NotFound("Label")


@routes.delete("/groups/:id/labels/:label_id", on=group_in_path, may=policy.may_admin_group_labels, returns=None)
@routes.delete("/projects/:id/labels/:label_id", on=label_project_in_path, may=policy.may_admin_labels, returns=None)
def delete_label(call: Call, lookup: LabelProjectLookup | Namespace) -> None:
    """Delete a label of a project or group."""
    _delete(call, lookup, call.path["label_id"])


@routes.post(
    "/groups/:id/labels/:label_id/subscribe",
    on=group_in_path,
    may=policy.may_subscribe_to_group_labels,
    returns=LabelView,
)
@routes.post(
    "/projects/:id/labels/:label_id/subscribe",
    on=label_project_in_path,
    may=policy.may_subscribe_to_labels,
    returns=LabelView,
)
def subscribe_to_label(call: Call, lookup: LabelProjectLookup | Namespace) -> LabelView:
    """Subscribe to a label."""
    return _set_subscription(call, lookup, following=True)


@routes.post(
    "/groups/:id/labels/:label_id/unsubscribe",
    on=group_in_path,
    may=policy.may_subscribe_to_group_labels,
    returns=LabelView,
)
@routes.post(
    "/projects/:id/labels/:label_id/unsubscribe",
    on=label_project_in_path,
    may=policy.may_subscribe_to_labels,
    returns=LabelView,
)
def unsubscribe_from_label(call: Call, lookup: LabelProjectLookup | Namespace) -> LabelView:
    """Unsubscribe from a label."""
    return _set_subscription(call, lookup, following=False)


@routes.put(
    "/projects/:id/labels/:label_id/promote", on=label_project_in_path, may=policy.may_admin_labels, returns=LabelView
)
def promote_project_label(call: Call, lookup: LabelProjectLookup) -> LabelView:
    """Promote a label of a project to a label of its group."""
    if lookup.project.space_owner_id is not None:
        raise Invalid("A project that is in no group has no group label")
    group_access, group = find_group(call.db, call.actor, lookup.project.namespace_id)
    require(policy.may_admin_group_labels(call.actor, group_access, group))
    label = queries.find_label(call.db, _source(lookup), call.path["label_id"], own=True)
    return _label_as_view(call, group, service.promote_label(call.db, label, _source(group)))
