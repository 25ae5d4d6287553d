"""Texts that a project offers for new issues; they are files of its default branch."""

from ingot.errors import Failure
from ingot.web.projects.place import Place

_FOLDER = ".gitlab/issue_templates"
_ENDING = ".md"


def templates_of(place: Place) -> list[str]:
    """The names of them."""
    if place.project.empty_repo or not place.may("GET", "/repository/tree"):
        return []
    try:
        files = place.get("/repository/tree", {"path": _FOLDER, "per_page": 100}).items
    except Failure:
        return []
    return [file.name.removesuffix(_ENDING) for file in files if file.type == "blob" and file.name.endswith(_ENDING)]


def template_named(place: Place, name: str) -> str:
    """One of them; nothing where there is none of this name."""
    if name not in templates_of(place):
        return ""
    path = f"{_FOLDER}/{name}{_ENDING}"
    content = place.get("/repository/files/:file_path/raw", {"ref": place.project.default_branch}, file_path=path)
    text = b"".join(content.pieces(0, content.size)) if content.body is None else content.body
    return text.decode(errors="replace")
