"""Labels of projects and groups."""

from ingot.collaboration.labels.policy import LabelProjectLookup as LabelsPlace
from ingot.collaboration.labels.queries import prioritized_labels
from ingot.collaboration.labels.service import prioritize_labels
from ingot.collaboration.labels.views import LabelView, project_label_views
from ingot.core.db.connection import Connection
from ingot.errors import Conflict, Invalid, NotFound, Unchanged
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.issues.planning_parent import ProjectOrGroupContext, SharedPages, framed_page
from ingot.web.page_routes import LocalRedirect, PageResponse, form_field
from ingot.web.projects.context import ProjectContext

shared_pages = SharedPages()
pages = shared_pages.pages
_FIELDS = ("name", "color", "description")
_DEFAULT_COLOR = "#428bca"
_MAX_PRIORITIZED = 100


@shared_pages.get("/labels", open=True)
def list_labels(place: ProjectOrGroupContext) -> PageResponse:
    """The labels, with how many carry each."""
    return _labels_page(place)


@shared_pages.form("post", "/labels")
def create_label(place: ProjectOrGroupContext) -> PageResponse:
    """Make one; what was typed stays where it is refused."""
    typed = {name: form_field(place.visit.form, "label", name) for name in _FIELDS}
    try:
        place.call("POST", "/labels", typed)
    except RequestRefusal as refusal:
        return _labels_page(place, typed, error_messages(refusal))
    return _back(place)


@shared_pages.get("/labels/:label_id/edit")
def show_label_form(place: ProjectOrGroupContext) -> PageResponse:
    """One to be changed."""
    label = _label(place)
    place.visit.find("PUT", _route(place), id=_number(place), label_id=label.id)
    typed = {"name": label.name, "color": label.color, "description": label.description or ""}
    return framed_page(place, "issues/label_form.html", "labels", {"label": label, "typed": typed, "errors": []})


@shared_pages.form("put", "/labels/:label_id")
def edit_label(place: ProjectOrGroupContext) -> PageResponse:
    """Change it everywhere where it is used."""
    label, form = _label(place), place.visit.form
    typed = {name: form_field(form, "label", name) for name in _FIELDS}
    sent = {"color": typed["color"], "description": typed["description"]}
    if typed["name"] != label.name:
        sent["new_name"] = typed["name"]
    try:
        place.call("PUT", "/labels/:label_id", sent, label_id=label.id)
    except RequestRefusal as refusal:
        context = {"label": label, "typed": typed, "errors": error_messages(refusal)}
        return framed_page(place, "issues/label_form.html", "labels", context, 422)
    return _back(place)


@shared_pages.form("delete", "/labels/:label_id")
def delete_label(place: ProjectOrGroupContext) -> PageResponse:
    """Take it off everything."""
    place.call("DELETE", "/labels/:label_id", label_id=place.visit.path["label_id"])
    return _back(place)


@shared_pages.form("post", "/labels/:label_id/subscription")
def change_label_subscription(place: ProjectOrGroupContext) -> PageResponse:
    """Hear of what gets this label, or no longer."""
    word = "subscribe" if place.visit.form.get("subscribed") == "true" else "unsubscribe"
    try:
        place.call("POST", f"/labels/:label_id/{word}", label_id=place.visit.path["label_id"])
    except Unchanged:
        pass  # Somebody pressed it twice.
    return _back(place)


@shared_pages.form("put", "/labels/:label_id/rank")
def prioritize_label(place: ProjectOrGroupContext) -> PageResponse:
    """Let it matter more or less than others in the project, or no more than what is not ranked."""
    if not isinstance(place, ProjectContext):
        raise NotFound("Label")
    visit, label, move = place.visit, _label(place), str(place.visit.form.get("move", ""))
    found: LabelsPlace = visit.find("PUT", _route(place), id=_number(place), label_id=label.id)

    def work(db: Connection) -> None:
        ordered = [one.id for one in prioritized_labels(db, found.project, _MAX_PRIORITIZED)]
        dropped = [label.id] if move == "drop" else []
        prioritize_labels(db, found.project.id, _reordered(ordered, label.id, move), dropped)

    visit.database.write(work)
    return _back(place)


@shared_pages.form("post", "/labels/:label_id/promote")
def promote_label(place: ProjectOrGroupContext) -> PageResponse:
    """Let it be one of the group around the project."""
    if not isinstance(place, ProjectContext):
        raise NotFound("Label")
    try:
        place.call("PUT", "/labels/:label_id/promote", label_id=place.visit.path["label_id"])
    except (Invalid, Conflict) as refusal:
        return _labels_page(place, errors=error_messages(refusal))
    return _back(place)


def _reordered(ordered: list[int], label_id: int, move: str) -> list[int]:
    """The order after one has moved; one that had no place comes last."""
    others = [one for one in ordered if one != label_id]
    if move == "drop":
        return others
    now = ordered.index(label_id) if label_id in ordered else len(others)
    to = max(now + {"up": -1, "down": 1}.get(move, 0), 0)
    return [*others[:to], label_id, *others[to:]][:_MAX_PRIORITIZED]


def _labels_page(
    place: ProjectOrGroupContext, typed: dict[str, str] | None = None, errors: list[str] | None = None
) -> PageResponse:
    query = place.visit.query
    search = query.get("search") if isinstance(query.get("search"), str) else ""
    context = {
        "labels": place.get("/labels", {"search": search or None, "page": place.visit.page, "per_page": 50}),
        "search": search,
        "ranked": _prioritized_labels(place)
        if isinstance(place, ProjectContext) and not search and place.visit.page == 1
        else [],
        "typed": typed or dict.fromkeys(_FIELDS, "") | {"color": _DEFAULT_COLOR},
        "errors": errors or [],
        "may_change": place.may("POST", "/labels"),
        "may_follow": place.may("POST", "/labels/:label_id/subscribe", label_id="0"),
        "may_promote": isinstance(place, ProjectContext)
        and place.project.namespace.kind == "group"
        and _may_promote(place),
        "of_project": isinstance(place, ProjectContext),
    }
    return framed_page(place, "issues/labels.html", "labels", context, 422 if errors else 200)


def _prioritized_labels(place: ProjectContext) -> list[LabelView]:
    visit = place.visit
    found: LabelsPlace = visit.find("GET", "/projects/:id/labels", id=place.project.id)

    def look(db: Connection) -> list[LabelView]:
        ranked = prioritized_labels(db, found.project, _MAX_PRIORITIZED)
        return project_label_views(db, visit.actor_or_anonymous, found.here, found.project, ranked) if ranked else []

    return visit.database.read(look)


def _may_promote(place: ProjectContext) -> bool:
    return place.visit.may("POST", "/groups/:id/labels", id=place.project.namespace.id)


def _label(place: ProjectOrGroupContext) -> LabelView:
    label: LabelView = place.get("/labels/:label_id", label_id=place.visit.path["label_id"])
    return label


def _route(place: ProjectOrGroupContext) -> str:
    return f"/{'projects' if isinstance(place, ProjectContext) else 'groups'}/:id/labels/:label_id"


def _number(place: ProjectOrGroupContext) -> int:
    return place.project.id if isinstance(place, ProjectContext) else place.group.id


def _back(place: ProjectOrGroupContext) -> LocalRedirect:
    return LocalRedirect(f"{place.url}/-/labels")
