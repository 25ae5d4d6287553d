"""Labels of projects and groups."""

from collections.abc import Callable

from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.labels.service import move_label
from ingot.collaboration.labels.views import LabelView, prioritized_label_views
from ingot.core.errors import Conflict, Invalid, NotFound, Unchanged
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.issues.planning_parent import SharedPages, planning_page
from ingot.web.notices import notice_by_field
from ingot.web.page_routes import LocalRedirect, PageResponse, form_field
from ingot.web.projects.context import ProjectContext

shared_pages = SharedPages()
pages = shared_pages.pages
_FIELDS = ("name", "color", "description")
_DEFAULT_COLOR = "#428bca"


@shared_pages.get("/labels", open=True)
def list_labels(parent: ProjectOrGroupContext) -> PageResponse:
    """List the labels with the number of uses of each."""
    return _labels_page(parent)


@shared_pages.form("post", "/labels", notice="Label created.")
def create_label(parent: ProjectOrGroupContext) -> PageResponse:
    """Create a label; on an error show the form with the input."""
    typed = {name: form_field(parent.visit.request.form, "label", name) for name in _FIELDS}
    try:
        parent.ask(parent.either(labels_api.create_project_label, labels_api.create_group_label), typed)
    except REQUEST_ERRORS as error:
        return _labels_page(parent, typed, error_messages(error))
    return _back(parent)


@shared_pages.get("/labels/:label_id/edit")
def show_label_form(parent: ProjectOrGroupContext) -> PageResponse:
    """Show the form for editing a label."""
    label = _label(parent)
    if not parent.may(_edit_label(parent), label_id=label.id):
        raise NotFound("Label")
    typed = {"name": label.name, "color": label.color, "description": label.description or ""}
    return planning_page(parent, "issues/label_form.html", "labels", {"label": label, "typed": typed, "errors": []})


@shared_pages.form("put", "/labels/:label_id", notice="Label saved.")
def edit_label(parent: ProjectOrGroupContext) -> PageResponse:
    """Update a label."""
    label, form = _label(parent), parent.visit.request.form
    typed = {name: form_field(form, "label", name) for name in _FIELDS}
    params = {"color": typed["color"], "description": typed["description"]}
    if typed["name"] != label.name:
        params["new_name"] = typed["name"]
    try:
        parent.ask(parent.either(labels_api.edit_project_label, labels_api.edit_group_label), params, label_id=label.id)
    except REQUEST_ERRORS as error:
        context = {"label": label, "typed": typed, "errors": error_messages(error)}
        return planning_page(parent, "issues/label_form.html", "labels", context, 422)
    return _back(parent)


@shared_pages.form("delete", "/labels/:label_id", notice="Label deleted.")
def delete_label(parent: ProjectOrGroupContext) -> PageResponse:
    """Delete a label."""
    parent.ask(labels_api.delete_label, label_id=parent.visit.request.path["label_id"])
    return _back(parent)


@shared_pages.form(
    "post",
    "/labels/:label_id/subscription",
    notice=notice_by_field("subscribed", {"true": "Subscribed."}, "Unsubscribed."),
)
def change_label_subscription(parent: ProjectOrGroupContext) -> PageResponse:
    """Subscribe to a label or unsubscribe."""
    subscribed = parent.visit.request.form.get("subscribed") == "true"
    endpoint = labels_api.subscribe_to_label if subscribed else labels_api.unsubscribe_from_label
    try:
        parent.ask(endpoint, label_id=parent.visit.request.path["label_id"])
    except Unchanged:
        pass  # Already in the requested state, for example after a double click.
    return _back(parent)


@shared_pages.form("put", "/labels/:label_id/rank", notice="Priority changed.")
def prioritize_label(parent: ProjectOrGroupContext) -> PageResponse:
    """Set or remove the priority of a label in the project."""
    if not isinstance(parent, ProjectContext):
        raise NotFound("Label")
    visit, label, move = parent.visit, _label(parent), str(parent.visit.request.form.get("move", ""))
    lookup = parent.find(labels_api.edit_project_label, label_id=label.id)
    visit.database.write(lambda db: move_label(db, lookup.project, label.id, move))
    return _back(parent)


@shared_pages.form("post", "/labels/:label_id/promote", notice="Label promoted to the group.")
def promote_label(parent: ProjectOrGroupContext) -> PageResponse:
    """Promote a project label to a group label."""
    if not isinstance(parent, ProjectContext):
        raise NotFound("Label")
    try:
        parent.ask(labels_api.promote_project_label, label_id=parent.visit.request.path["label_id"])
    except (Invalid, Conflict) as error:
        return _labels_page(parent, errors=error_messages(error))
    return _back(parent)


def _labels_page(
    parent: ProjectOrGroupContext, typed: dict[str, str] | None = None, errors: list[str] | None = None
) -> PageResponse:
    query = parent.visit.request.query
    search = query.get("search") if isinstance(query.get("search"), str) else ""
    context = {
        "labels": parent.ask(
            parent.either(labels_api.list_project_labels, labels_api.list_group_labels),
            {"search": search or None, "page": parent.visit.request.page, "per_page": 50},
        ),
        "search": search,
        "ranked": _prioritized_labels(parent)
        if isinstance(parent, ProjectContext) and not search and parent.visit.request.page == 1
        else [],
        "typed": typed or dict.fromkeys(_FIELDS, "") | {"color": _DEFAULT_COLOR},
        "errors": errors or [],
        "may_change": parent.may(parent.either(labels_api.create_project_label, labels_api.create_group_label)),
        "may_subscribe": parent.may(labels_api.subscribe_to_label, label_id="0"),
        "may_promote": isinstance(parent, ProjectContext)
        and parent.project.namespace.kind == "group"
        and _may_promote(parent),
        "of_project": isinstance(parent, ProjectContext),
    }
    return planning_page(parent, "issues/labels.html", "labels", context, 422 if errors else 200)


def _prioritized_labels(parent: ProjectContext) -> list[LabelView]:
    visit = parent.visit
    lookup = parent.find(labels_api.list_project_labels)
    return visit.database.read(
        lambda db: prioritized_label_views(db, visit.viewer.actor, lookup.access, lookup.project)
    )


def _may_promote(parent: ProjectContext) -> bool:
    return parent.visit.may(labels_api.create_group_label, id=parent.project.namespace.id)


def _label(parent: ProjectOrGroupContext) -> LabelView:
    label: LabelView = parent.ask(labels_api.get_label, label_id=parent.visit.request.path["label_id"])
    return label


def _edit_label(parent: ProjectOrGroupContext) -> Callable[..., LabelView]:
    return parent.either(labels_api.edit_project_label, labels_api.edit_group_label)


def _back(parent: ProjectOrGroupContext) -> LocalRedirect:
    return LocalRedirect(f"{parent.url}/-/labels")
