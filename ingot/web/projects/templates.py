"""Texts that a project offers for new issues and merge requests; they are files of its default branch."""

from typing import Any, Literal

from ingot.errors import Failure
from ingot.web.projects.place import Place

Kind = Literal["issue", "merge_request"]
_ENDING = ".md"
_DEFAULT = "default"
_MOST = 100
_LONGEST = 100_000


def templates_of(place: Place, kind: Kind) -> list[str]:
    """The names of them."""
    if place.project.empty_repo or not place.may("GET", "/repository/tree"):
        return []
    try:
        files = place.get("/repository/tree", {"path": _folder(kind), "per_page": _MOST}).items
    except Failure:
        return []
    return [file.name.removesuffix(_ENDING) for file in files if file.type == "blob" and file.name.endswith(_ENDING)]


def template_for(place: Place, kind: Kind, names: list[str], asked: Any) -> str:
    """The one of ``names`` that an address asks for, or the one that is called the default, or nothing."""
    if isinstance(asked, str):
        name = asked.removesuffix(_ENDING)
    else:
        name = next((one for one in names if one.lower() == _DEFAULT), "")
    return _text(place, f"{_folder(kind)}/{name}{_ENDING}") if name in names else ""


def _text(place: Place, path: str) -> str:
    try:
        route = "/repository/files/:file_path/raw"
        content = place.get(route, {"ref": place.project.default_branch}, file_path=path)
    except Failure:
        return ""
    text: bytes = content.body or b""
    if content.body is None:
        text = b"".join(content.pieces(0, min(content.size, _LONGEST)))
    text = text[:_LONGEST]
    return text.decode(errors="replace").replace("\0", "")


def _folder(kind: Kind) -> str:
    return f".gitlab/{kind}_templates"
