"""Labels over the API, those of projects and those of groups."""

from ingot.access.levels import Access
from ingot.access.rules import require
from ingot.api.params import Missing, given
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.errors import Invalid, NotFound, Unchanged
from ingot.followers.queries import said
from ingot.followers.service import follow
from ingot.groups.api import group_in_path
from ingot.groups.members.queries import Source
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.groups.queries import find_group
from ingot.groups.queries import source_of as source_of_group
from ingot.labels import policy, queries, service
from ingot.labels.params import (
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
from ingot.labels.policy import Place
from ingot.labels.tables import Label
from ingot.labels.views import LabelView, group_label_views, project_label_views
from ingot.projects.queries import find_project
from ingot.projects.queries import source_of as source_of_project

routes = Routes("labels")


def place_in_path(call: Call) -> tuple[Access, Place]:
    """The project whose labels are meant."""
    here, project = find_project(call.db, call.actor, call.path["id"])
    return here, Place(here, project)


def _in_project(call: Call, place: Place, label: Label) -> LabelView:
    return project_label_views(call.db, call.actor, place.here, place.project, [label])[0]


def _in_group(call: Call, label: Label) -> LabelView:
    return group_label_views(call.db, call.actor, [label])[0]


def _named(params: EditNamedLabel | EditNamedGroupLabel | NamedLabel) -> str:
    """Which label is meant where the path does not say."""
    if params.label_id is not None:
        return str(params.label_id)
    if not params.name:
        raise Missing("name")
    return params.name


def _edit(call: Call, source: Source, name: str, params: EditGroupLabel) -> Label:
    if not given(params, "name", "label_id"):
        raise Missing("new_name")
    label = queries.find_label(call.db, source, name, own=True)
    return service.edit_label(call.db, source, label, params)


def _delete(call: Call, source: Source, name: str) -> bool:
    label = queries.label_or_none(call.db, source, name, own=True)
    if label is not None:
        service.delete_label(call.db, label)
    return label is not None


def _follow(call: Call, source: Source, *, following: bool) -> Label:
    label = queries.find_label(call.db, source, call.path["label_id"])
    if bool(said(call.db, call.actor.user_id, "label", label.id)) is following:
        raise Unchanged
    follow(call.db, call.actor.user_id, "label", label.id, following=following)
    return label


@routes.get("/projects/:id/labels", on=place_in_path, may=policy.may_read_labels, returns=list[LabelView])
def list_project_labels(call: Call, place: Place, params: ListLabels, page: Page) -> Listing[LabelView]:
    """List the labels of a project and of the groups around it."""
    found = queries.list_labels(call.db, call.actor, source_of_project(place.project), params, page)
    return found.of(
        project_label_views(call.db, call.actor, place.here, place.project, found.items, counts=params.with_counts)
    )


@routes.get("/projects/:id/labels/:label_id", on=place_in_path, may=policy.may_read_labels, returns=LabelView)
def get_project_label(call: Call, place: Place, params: GetLabel) -> LabelView:
    """Get a label of a project by number or title."""
    own = not params.include_ancestor_groups
    return _in_project(
        call, place, queries.find_label(call.db, source_of_project(place.project), call.path["label_id"], own=own)
    )


@routes.post("/projects/:id/labels", on=place_in_path, may=policy.may_admin_labels, returns=LabelView)
def create_project_label(call: Call, place: Place, params: CreateLabel) -> LabelView:
    """Create a label of a project."""
    return _in_project(call, place, service.create_label(call.db, source_of_project(place.project), params))


@routes.put("/projects/:id/labels", on=place_in_path, may=policy.may_admin_labels, returns=LabelView)
def edit_named_project_label(call: Call, place: Place, params: EditNamedLabel) -> LabelView:
    """Edit the label of a project that has this name."""
    return _in_project(call, place, _edit(call, source_of_project(place.project), _named(params), params))


@routes.put("/projects/:id/labels/:label_id", on=place_in_path, may=policy.may_admin_labels, returns=LabelView)
def edit_project_label(call: Call, place: Place, params: EditLabel) -> LabelView:
    """Edit a label of a project."""
    return _in_project(call, place, _edit(call, source_of_project(place.project), call.path["label_id"], params))


@routes.delete("/projects/:id/labels", on=place_in_path, may=policy.may_admin_labels, returns=None)
def delete_named_project_label(call: Call, place: Place, params: NamedLabel) -> None:
    """Delete the label of a project that has this name."""
    if not _delete(call, source_of_project(place.project), _named(params)):
        raise NotFound("Label")


@routes.delete("/projects/:id/labels/:label_id", on=place_in_path, may=policy.may_admin_labels, returns=None)
def delete_project_label(call: Call, place: Place) -> None:
    """Delete a label of a project."""
    _delete(call, source_of_project(place.project), call.path["label_id"])


@routes.post(
    "/projects/:id/labels/:label_id/subscribe", on=place_in_path, may=policy.may_follow_labels, returns=LabelView
)
def subscribe_to_project_label(call: Call, place: Place) -> LabelView:
    """Follow whatever carries a label."""
    return _in_project(call, place, _follow(call, source_of_project(place.project), following=True))


@routes.post(
    "/projects/:id/labels/:label_id/unsubscribe", on=place_in_path, may=policy.may_follow_labels, returns=LabelView
)
def unsubscribe_from_project_label(call: Call, place: Place) -> LabelView:
    """Stop following whatever carries a label."""
    return _in_project(call, place, _follow(call, source_of_project(place.project), following=False))


@routes.put("/projects/:id/labels/:label_id/promote", on=place_in_path, may=policy.may_admin_labels, returns=LabelView)
def promote_project_label(call: Call, place: Place) -> LabelView:
    """Make a label of a project one of the group around it, for all projects there."""
    if place.project.space_owner_id is not None:
        raise Invalid("A project that is in no group has no group label")
    there, group = find_group(call.db, call.actor, place.project.namespace_id)
    require(policy.may_admin_group_labels(call.actor, there, group))
    label = queries.find_label(call.db, source_of_project(place.project), call.path["label_id"], own=True)
    return _in_group(call, service.promote_label(call.db, label, source_of_group(group)))


@routes.get("/groups/:id/labels", on=group_in_path, may=may_see_group, returns=list[LabelView])
def list_group_labels(call: Call, group: Namespace, params: ListGroupLabels, page: Page) -> Listing[LabelView]:
    """List the labels of a group and of the groups around it."""
    found = queries.list_labels(call.db, call.actor, source_of_group(group), params, page)
    return found.of(group_label_views(call.db, call.actor, found.items, counts=params.with_counts))


@routes.get("/groups/:id/labels/:label_id", on=group_in_path, may=may_see_group, returns=LabelView)
def get_group_label(call: Call, group: Namespace, params: GetLabel) -> LabelView:
    """Get a label of a group by number or title."""
    own = not params.include_ancestor_groups
    return _in_group(call, queries.find_label(call.db, source_of_group(group), call.path["label_id"], own=own))


@routes.post("/groups/:id/labels", on=group_in_path, may=policy.may_admin_group_labels, returns=LabelView)
def create_group_label(call: Call, group: Namespace, params: CreateGroupLabel) -> LabelView:
    """Create a label of a group, for all projects in it."""
    return _in_group(call, service.create_label(call.db, source_of_group(group), params))


@routes.put("/groups/:id/labels", on=group_in_path, may=policy.may_admin_group_labels, returns=LabelView)
def edit_named_group_label(call: Call, group: Namespace, params: EditNamedGroupLabel) -> LabelView:
    """Edit the label of a group that has this name."""
    return _in_group(call, _edit(call, source_of_group(group), _named(params), params))


@routes.put("/groups/:id/labels/:label_id", on=group_in_path, may=policy.may_admin_group_labels, returns=LabelView)
def edit_group_label(call: Call, group: Namespace, params: EditGroupLabel) -> LabelView:
    """Edit a label of a group."""
    return _in_group(call, _edit(call, source_of_group(group), call.path["label_id"], params))


@routes.delete("/groups/:id/labels", on=group_in_path, may=policy.may_admin_group_labels, returns=None)
def delete_named_group_label(call: Call, group: Namespace, params: NamedLabel) -> None:
    """Delete the label of a group that has this name."""
    if not _delete(call, source_of_group(group), _named(params)):
        raise NotFound("Label")


@routes.delete("/groups/:id/labels/:label_id", on=group_in_path, may=policy.may_admin_group_labels, returns=None)
def delete_group_label(call: Call, group: Namespace) -> None:
    """Delete a label of a group."""
    _delete(call, source_of_group(group), call.path["label_id"])


@routes.post(
    "/groups/:id/labels/:label_id/subscribe",
    on=group_in_path,
    may=policy.may_follow_group_labels,
    returns=LabelView,
)
def subscribe_to_group_label(call: Call, group: Namespace) -> LabelView:
    """Follow whatever carries a label of a group."""
    return _in_group(call, _follow(call, source_of_group(group), following=True))


@routes.post(
    "/groups/:id/labels/:label_id/unsubscribe",
    on=group_in_path,
    may=policy.may_follow_group_labels,
    returns=LabelView,
)
def unsubscribe_from_group_label(call: Call, group: Namespace) -> LabelView:
    """Stop following whatever carries a label of a group."""
    return _in_group(call, _follow(call, source_of_group(group), following=False))
