"""What is at a path: a project's home, a group or a person."""

from typing import Any

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.web.explore.people import person_or_none, show_person
from ingot.web.pages import Pages, Redirect, Reply, Visit
from ingot.web.projects.place import Place, place_of
from ingot.web.texts import html_of

pages = Pages()
_READMES = ("readme.md", "readme.markdown", "readme", "readme.txt")


@pages.get("/:path", open=True)
def show_path(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """A project's home; what is no project may be a group."""
    try:
        place = place_of(visit)
    except NotFound:
        return _somebody(visit)
    return show_home(place)


def show_home(place: Place) -> Reply:
    """The project with its newest commit, files and README, or the way to a first push."""
    project = place.project
    context: dict[str, Any] = {
        "description": html_of(place.visit, project.description, project.id),
        "may_star": place.may("POST", "/star"),
        "may_fork": place.may("POST", "/fork"),
        "languages": [],
        "entries": [],
        "readme": None,
        "last": None,
    }
    if not project.empty_repo and place.may("GET", "/repository/tree"):
        context |= _code(place)
    return place.page("projects/home.html", "home", context)


def _code(place: Place) -> dict[str, Any]:
    ref = place.project.default_branch
    entries = place.get("/repository/tree", {"per_page": 100}).items
    languages = place.get("/languages")
    return {
        "entries": entries,
        "last": next(iter(place.get("/repository/commits", {"per_page": 1}).items), None),
        "languages": sorted(languages.items(), key=lambda language: -language[1]),
        "readme": _readme(place, ref, [entry.path for entry in entries if entry.type == "blob"]),
    }


def _readme(place: Place, ref: str | None, files: list[str]) -> tuple[str, Any] | None:
    name = next((file for wanted in _READMES for file in files if file.lower() == wanted), None)
    if name is None or ref is None:
        return None
    content = place.get("/repository/files/:file_path/raw", {"ref": ref}, file_path=name)
    text = b"".join(content.pieces(0, content.size)) if content.body is None else content.body
    return name, html_of(place.visit, text.decode(errors="replace"), place.project.id, ref=ref)


def _somebody(visit: Visit) -> Reply:
    """A person's page, or a group's, which has an address of its own."""
    person = person_or_none(visit, visit.path["path"])
    if person is not None:
        return show_person(visit, person)
    group = visit.get("/groups/:id", id=visit.path["path"])
    return Redirect(f"/groups/{group.full_path}")
