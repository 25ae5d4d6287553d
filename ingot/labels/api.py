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
from ingot.projects.places import source_of
from ingot.projects.queries import find_project

routes = Routes("labels")


def place_in_path(call: Call) -> tuple[Access, Place]:
    """The project whose labels are meant."""
    here, project = find_project(call.db, call.actor, call.path["id"])
    return here, Place(here, project)


def _source(place: Place | Namespace) -> Source:
    return source_of(place.project if isinstance(place, Place) else place)


def _shown(call: Call, place: Place | Namespace, label: Label) -> LabelView:
    if isinstance(place, Place):
        return project_label_views(call.db, call.actor, place.here, place.project, [label])[0]
    return group_label_views(call.db, call.actor, [label])[0]


def _named(params: EditNamedLabel | EditNamedGroupLabel | NamedLabel) -> str:
    """Which label is meant where the path does not say."""
    if params.label_id is not None:
        return str(params.label_id)
    if not params.name:
        raise Missing("name")
    return params.name


def _edit(call: Call, place: Place | Namespace, name: str, params: EditGroupLabel) -> LabelView:
    if not given(params, "name", "label_id"):
        raise Missing("new_name")
    label = queries.find_label(call.db, _source(place), name, own=True)
    return _shown(call, place, service.edit_label(call.db, _source(place), label, params))


def _delete(call: Call, place: Place | Namespace, name: str) -> bool:
    label = queries.label_or_none(call.db, _source(place), name, own=True)
    if label is not None:
        service.delete_label(call.db, label)
    return label is not None


def _follow(call: Call, place: Place | Namespace, *, following: bool) -> LabelView:
    label = queries.find_label(call.db, _source(place), call.path["label_id"])
    if bool(said(call.db, call.actor.user_id, "label", label.id)) is following:
        raise Unchanged
    follow(call.db, call.actor.user_id, "label", label.id, following=following)
    return _shown(call, place, label)


@routes.get("/projects/:id/labels", on=place_in_path, may=policy.may_read_labels, returns=list[LabelView])
def list_project_labels(call: Call, place: Place, params: ListLabels, page: Page) -> Listing[LabelView]:
    """List the labels of a project and of the groups around it."""
    found = queries.list_labels(call.db, call.actor, _source(place), params, page)
    return found.of(
        project_label_views(call.db, call.actor, place.here, place.project, found.items, counts=params.with_counts)
    )


@routes.get("/groups/:id/labels", on=group_in_path, may=may_see_group, returns=list[LabelView])
def list_group_labels(call: Call, group: Namespace, params: ListGroupLabels, page: Page) -> Listing[LabelView]:
    """List the labels of a group and of the groups around it."""
    found = queries.list_labels(call.db, call.actor, _source(group), params, page)
    return found.of(group_label_views(call.db, call.actor, found.items, counts=params.with_counts))


@routes.get("/groups/:id/labels/:label_id", on=group_in_path, may=may_see_group, returns=LabelView)
@routes.get("/projects/:id/labels/:label_id", on=place_in_path, may=policy.may_read_labels, returns=LabelView)
def get_label(call: Call, place: Place | Namespace, params: GetLabel) -> LabelView:
    """Get a label of a project or group by number or title."""
    own = not params.include_ancestor_groups
    return _shown(call, place, queries.find_label(call.db, _source(place), call.path["label_id"], own=own))


@routes.post("/projects/:id/labels", on=place_in_path, may=policy.may_admin_labels, returns=LabelView)
def create_project_label(call: Call, place: Place, params: CreateLabel) -> LabelView:
    """Create a label of a project."""
    return _shown(call, place, service.create_label(call.db, _source(place), params))


@routes.post("/groups/:id/labels", on=group_in_path, may=policy.may_admin_group_labels, returns=LabelView)
def create_group_label(call: Call, group: Namespace, params: CreateGroupLabel) -> LabelView:
    """Create a label of a group, for all projects in it."""
    return _shown(call, group, service.create_label(call.db, _source(group), params))


@routes.put("/projects/:id/labels", on=place_in_path, may=policy.may_admin_labels, returns=LabelView)
def edit_named_project_label(call: Call, place: Place, params: EditNamedLabel) -> LabelView:
    """Edit the label of a project that has this name."""
    return _edit(call, place, _named(params), params)


@routes.put("/groups/:id/labels", on=group_in_path, may=policy.may_admin_group_labels, returns=LabelView)
def edit_named_group_label(call: Call, group: Namespace, params: EditNamedGroupLabel) -> LabelView:
    """Edit the label of a group that has this name."""
    return _edit(call, group, _named(params), params)


@routes.put("/projects/:id/labels/:label_id", on=place_in_path, may=policy.may_admin_labels, returns=LabelView)
def edit_project_label(call: Call, place: Place, params: EditLabel) -> LabelView:
    """Edit a label of a project."""
    return _edit(call, place, call.path["label_id"], params)


@routes.put("/groups/:id/labels/:label_id", on=group_in_path, may=policy.may_admin_group_labels, returns=LabelView)
def edit_group_label(call: Call, group: Namespace, params: EditGroupLabel) -> LabelView:
    """Edit a label of a group."""
    return _edit(call, group, call.path["label_id"], params)


@routes.delete("/groups/:id/labels", on=group_in_path, may=policy.may_admin_group_labels, returns=None)
@routes.delete("/projects/:id/labels", on=place_in_path, may=policy.may_admin_labels, returns=None)
def delete_named_label(call: Call, place: Place | Namespace, params: NamedLabel) -> None:
    """Delete the label of a project or group that has this name."""
    if not _delete(call, place, _named(params)):
        raise NotFound("Label")


@routes.delete("/groups/:id/labels/:label_id", on=group_in_path, may=policy.may_admin_group_labels, returns=None)
@routes.delete("/projects/:id/labels/:label_id", on=place_in_path, may=policy.may_admin_labels, returns=None)
def delete_label(call: Call, place: Place | Namespace) -> None:
    """Delete a label of a project or group."""
    _delete(call, place, call.path["label_id"])


@routes.post(
    "/groups/:id/labels/:label_id/subscribe",
    on=group_in_path,
    may=policy.may_follow_group_labels,
    returns=LabelView,
)
@routes.post(
    "/projects/:id/labels/:label_id/subscribe", on=place_in_path, may=policy.may_follow_labels, returns=LabelView
)
def subscribe_to_label(call: Call, place: Place | Namespace) -> LabelView:
    """Follow whatever carries a label."""
    return _follow(call, place, following=True)


@routes.post(
    "/groups/:id/labels/:label_id/unsubscribe",
    on=group_in_path,
    may=policy.may_follow_group_labels,
    returns=LabelView,
)
@routes.post(
    "/projects/:id/labels/:label_id/unsubscribe", on=place_in_path, may=policy.may_follow_labels, returns=LabelView
)
def unsubscribe_from_label(call: Call, place: Place | Namespace) -> LabelView:
    """Stop following whatever carries a label."""
    return _follow(call, place, following=False)


@routes.put("/projects/:id/labels/:label_id/promote", on=place_in_path, may=policy.may_admin_labels, returns=LabelView)
def promote_project_label(call: Call, place: Place) -> LabelView:
    """Make a label of a project one of the group around it, for all projects there."""
    if place.project.space_owner_id is not None:
        raise Invalid("A project that is in no group has no group label")
    there, group = find_group(call.db, call.actor, place.project.namespace_id)
    require(policy.may_admin_group_labels(call.actor, there, group))
    label = queries.find_label(call.db, _source(place), call.path["label_id"], own=True)
    return _shown(call, group, service.promote_label(call.db, label, _source(group)))
