"""Labels of projects and groups."""

from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid, NotFound, Unchanged
from ingot.labels.policy import Place as LabelsPlace
from ingot.labels.queries import ranked_labels
from ingot.labels.service import rank_labels
from ingot.labels.views import LabelView, project_label_views
from ingot.web.issues.anywhere import PlacedPages, Somewhere, framed
from ingot.web.pages import Redirect, Reply, form_part
from ingot.web.projects.place import Place
from ingot.web.refusals import Refusal, sentences

placed = PlacedPages()
pages = placed.pages
_FIELDS = ("name", "color", "description")
_FIRST_COLOR = "#428bca"
_MOST_RANKED = 100


@placed.get("/labels", open=True)
def list_labels(place: Somewhere) -> Reply:
    """The labels, with how many carry each."""
    return _list(place)


@placed.form("post", "/labels")
def create_label(place: Somewhere) -> Reply:
    """Make one; what was typed stays where it is refused."""
    typed = {name: form_part(place.visit.form, "label", name) for name in _FIELDS}
    try:
        place.call("POST", "/labels", typed)
    except Refusal as refusal:
        return _list(place, typed, sentences(refusal))
    return _back(place)


@placed.get("/labels/:label_id/edit")
def show_label_form(place: Somewhere) -> Reply:
    """One to be changed."""
    label = _label(place)
    place.visit.find("PUT", _route(place), id=_number(place), label_id=label.id)
    typed = {"name": label.name, "color": label.color, "description": label.description or ""}
    return framed(place, "issues/label_form.html", "labels", {"label": label, "typed": typed, "errors": []})


@placed.form("put", "/labels/:label_id")
def edit_label(place: Somewhere) -> Reply:
    """Change it everywhere where it is used."""
    label, form = _label(place), place.visit.form
    typed = {name: form_part(form, "label", name) for name in _FIELDS}
    sent = {"color": typed["color"], "description": typed["description"]}
    if typed["name"] != label.name:
        sent["new_name"] = typed["name"]
    try:
        place.call("PUT", "/labels/:label_id", sent, label_id=label.id)
    except Refusal as refusal:
        context = {"label": label, "typed": typed, "errors": sentences(refusal)}
        return framed(place, "issues/label_form.html", "labels", context, 422)
    return _back(place)


@placed.form("delete", "/labels/:label_id")
def delete_label(place: Somewhere) -> Reply:
    """Take it off everything."""
    place.call("DELETE", "/labels/:label_id", label_id=place.visit.path["label_id"])
    return _back(place)


@placed.form("post", "/labels/:label_id/subscription")
def follow_label(place: Somewhere) -> Reply:
    """Hear of what gets this label, or no longer."""
    word = "subscribe" if place.visit.form.get("subscribed") == "true" else "unsubscribe"
    try:
        place.call("POST", f"/labels/:label_id/{word}", label_id=place.visit.path["label_id"])
    except Unchanged:
        pass  # Somebody pressed it twice.
    return _back(place)


@placed.form("put", "/labels/:label_id/rank")
def rank_label(place: Somewhere) -> Reply:
    """Let it matter more or less than others in the project, or no more than what is not ranked."""
    if not isinstance(place, Place):
        raise NotFound("Label")
    visit, label, move = place.visit, _label(place), str(place.visit.form.get("move", ""))
    found: LabelsPlace = visit.find("PUT", _route(place), id=_number(place), label_id=label.id)

    def work(db: Connection) -> None:
        ordered = [one.id for one in ranked_labels(db, found.project, _MOST_RANKED)]
        dropped = [label.id] if move == "drop" else []
        rank_labels(db, found.project.id, _moved(ordered, label.id, move), dropped)

    visit.database.write(work)
    return _back(place)


@placed.form("post", "/labels/:label_id/promote")
def promote_label(place: Somewhere) -> Reply:
    """Let it be one of the group around the project."""
    if not isinstance(place, Place):
        raise NotFound("Label")
    try:
        place.call("PUT", "/labels/:label_id/promote", label_id=place.visit.path["label_id"])
    except (Invalid, Conflict) as refusal:
        return _list(place, errors=sentences(refusal))
    return _back(place)


def _moved(ordered: list[int], label_id: int, move: str) -> list[int]:
    """The order after one has moved; one that had no place comes last."""
    others = [one for one in ordered if one != label_id]
    if move == "drop":
        return others
    now = ordered.index(label_id) if label_id in ordered else len(others)
    to = max(now + {"up": -1, "down": 1}.get(move, 0), 0)
    return [*others[:to], label_id, *others[to:]][:_MOST_RANKED]


def _list(place: Somewhere, typed: dict[str, str] | None = None, errors: list[str] | None = None) -> Reply:
    query = place.visit.query
    search = query.get("search") if isinstance(query.get("search"), str) else ""
    context = {
        "labels": place.get("/labels", {"search": search or None, "page": place.visit.page, "per_page": 50}),
        "search": search,
        "ranked": _ranked(place) if isinstance(place, Place) and not search and place.visit.page == 1 else [],
        "typed": typed or dict.fromkeys(_FIELDS, "") | {"color": _FIRST_COLOR},
        "errors": errors or [],
        "may_change": place.may("POST", "/labels"),
        "may_follow": place.may("POST", "/labels/:label_id/subscribe", label_id="0"),
        "may_promote": isinstance(place, Place) and place.project.namespace.kind == "group" and _may_promote(place),
        "of_project": isinstance(place, Place),
    }
    return framed(place, "issues/labels.html", "labels", context, 422 if errors else 200)


def _ranked(place: Place) -> list[LabelView]:
    visit = place.visit
    found: LabelsPlace = visit.find("GET", "/projects/:id/labels", id=place.project.id)

    def look(db: Connection) -> list[LabelView]:
        ranked = ranked_labels(db, found.project, _MOST_RANKED)
        return project_label_views(db, visit.actor_or_nobody, found.here, found.project, ranked) if ranked else []

    return visit.database.read(look)


def _may_promote(place: Place) -> bool:
    return place.visit.may("POST", "/groups/:id/labels", id=place.project.namespace.id)


def _label(place: Somewhere) -> LabelView:
    label: LabelView = place.get("/labels/:label_id", label_id=place.visit.path["label_id"])
    return label


def _route(place: Somewhere) -> str:
    return f"/{'projects' if isinstance(place, Place) else 'groups'}/:id/labels/:label_id"


def _number(place: Somewhere) -> int:
    return place.project.id if isinstance(place, Place) else place.group.id


def _back(place: Somewhere) -> Redirect:
    return Redirect(f"{place.url}/-/labels")
