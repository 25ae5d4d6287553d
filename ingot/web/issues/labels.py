"""Labels of projects and groups."""

from collections.abc import Callable

from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.labels.service import move_label
from ingot.collaboration.labels.views import LabelView, prioritized_label_views
from ingot.errors import Conflict, Invalid, NotFound, Unchanged
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.issues.planning_parent import ProjectOrGroupContext, SharedPages, framed_page
from ingot.web.page_routes import LocalRedirect, PageResponse, form_field
from ingot.web.projects.context import ProjectContext

shared_pages = SharedPages()
pages = shared_pages.pages
_FIELDS = ("name", "color", "description")
_DEFAULT_COLOR = "#428bca"


@shared_pages.get("/labels", open=True)
def list_labels(place: ProjectOrGroupContext) -> PageResponse:
    """List the labels with the number of uses of each."""
    return _labels_page(place)


@shared_pages.form("post", "/labels")
def create_label(place: ProjectOrGroupContext) -> PageResponse:
    """Create a label; on an error show the form with the input."""
    typed = {name: form_field(place.visit.request.form, "label", name) for name in _FIELDS}
    try:
        place.ask(place.either(labels_api.create_project_label, labels_api.create_group_label), typed)
    except RequestRefusal as refusal:
        return _labels_page(place, typed, error_messages(refusal))
    return _back(place)


@shared_pages.get("/labels/:label_id/edit")
def show_label_form(place: ProjectOrGroupContext) -> PageResponse:
    """Show the form for editing a label."""
    label = _label(place)
    if not place.may(_edit_label(place), label_id=label.id):
        raise NotFound("Label")
    typed = {"name": label.name, "color": label.color, "description": label.description or ""}
    return framed_page(place, "issues/label_form.html", "labels", {"label": label, "typed": typed, "errors": []})


@shared_pages.form("put", "/labels/:label_id")
def edit_label(place: ProjectOrGroupContext) -> PageResponse:
    """Update a label."""
    label, form = _label(place), place.visit.request.form
    typed = {name: form_field(form, "label", name) for name in _FIELDS}
    sent = {"color": typed["color"], "description": typed["description"]}
    if typed["name"] != label.name:
        sent["new_name"] = typed["name"]
    try:
        place.ask(place.either(labels_api.edit_project_label, labels_api.edit_group_label), sent, label_id=label.id)
    except RequestRefusal as refusal:
        context = {"label": label, "typed": typed, "errors": error_messages(refusal)}
        return framed_page(place, "issues/label_form.html", "labels", context, 422)
    return _back(place)


@shared_pages.form("delete", "/labels/:label_id")
def delete_label(place: ProjectOrGroupContext) -> PageResponse:
    """Delete a label."""
    place.ask(labels_api.delete_label, label_id=place.visit.request.path["label_id"])
    return _back(place)


@shared_pages.form("post", "/labels/:label_id/subscription")
def change_label_subscription(place: ProjectOrGroupContext) -> PageResponse:
    """Subscribe to a label or unsubscribe."""
    subscribes = place.visit.request.form.get("subscribed") == "true"
    endpoint = labels_api.subscribe_to_label if subscribes else labels_api.unsubscribe_from_label
    try:
        place.ask(endpoint, label_id=place.visit.request.path["label_id"])
    except Unchanged:
        pass  # Already in the requested state, for example after a double click.
    return _back(place)


@shared_pages.form("put", "/labels/:label_id/rank")
def prioritize_label(place: ProjectOrGroupContext) -> PageResponse:
    """Set or remove the priority of a label in the project."""
    if not isinstance(place, ProjectContext):
        raise NotFound("Label")
    visit, label, move = place.visit, _label(place), str(place.visit.request.form.get("move", ""))
    found = place.find(labels_api.edit_project_label, label_id=label.id)
    visit.database.write(lambda db: move_label(db, found.project, label.id, move))
    return _back(place)


@shared_pages.form("post", "/labels/:label_id/promote")
def promote_label(place: ProjectOrGroupContext) -> PageResponse:
    """Promote a project label to a group label."""
    if not isinstance(place, ProjectContext):
        raise NotFound("Label")
    try:
        place.ask(labels_api.promote_project_label, label_id=place.visit.request.path["label_id"])
    except (Invalid, Conflict) as refusal:
        return _labels_page(place, errors=error_messages(refusal))
    return _back(place)


def _labels_page(
    place: ProjectOrGroupContext, typed: dict[str, str] | None = None, errors: list[str] | None = None
) -> PageResponse:
    query = place.visit.request.query
    search = query.get("search") if isinstance(query.get("search"), str) else ""
    context = {
        "labels": place.ask(
            place.either(labels_api.list_project_labels, labels_api.list_group_labels),
            {"search": search or None, "page": place.visit.request.page, "per_page": 50},
        ),
        "search": search,
        "ranked": _prioritized_labels(place)
        if isinstance(place, ProjectContext) and not search and place.visit.request.page == 1
        else [],
        "typed": typed or dict.fromkeys(_FIELDS, "") | {"color": _DEFAULT_COLOR},
        "errors": errors or [],
        "may_change": place.may(place.either(labels_api.create_project_label, labels_api.create_group_label)),
        "may_follow": place.may(labels_api.subscribe_to_label, label_id="0"),
        "may_promote": isinstance(place, ProjectContext)
        and place.project.namespace.kind == "group"
        and _may_promote(place),
        "of_project": isinstance(place, ProjectContext),
    }
    return framed_page(place, "issues/labels.html", "labels", context, 422 if errors else 200)


def _prioritized_labels(place: ProjectContext) -> list[LabelView]:
    visit = place.visit
    found = place.find(labels_api.list_project_labels)
    return visit.database.read(lambda db: prioritized_label_views(db, visit.viewer.actor, found.access, found.project))


def _may_promote(place: ProjectContext) -> bool:
    return place.visit.may(labels_api.create_group_label, id=place.project.namespace.id)


def _label(place: ProjectOrGroupContext) -> LabelView:
    label: LabelView = place.ask(labels_api.get_label, label_id=place.visit.request.path["label_id"])
    return label


def _edit_label(place: ProjectOrGroupContext) -> Callable[..., LabelView]:
    return place.either(labels_api.edit_project_label, labels_api.edit_group_label)


def _back(place: ProjectOrGroupContext) -> LocalRedirect:
    return LocalRedirect(f"{place.url}/-/labels")
