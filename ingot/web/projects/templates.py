"""Description templates for issues and merge requests, stored as files in the default branch."""

from typing import Any, Literal

from ingot.core.errors import Failure
from ingot.repositories.lfs import api as lfs_api
from ingot.repositories.trees import api as trees_api
from ingot.web.projects.context import ProjectContext

TemplateKind = Literal["issue", "merge_request"]
_SUFFIX = ".md"
_DEFAULT = "default"
_MAX_TEMPLATES = 100
_MAX_LENGTH = 100_000


def list_templates(parent: ProjectContext, kind: TemplateKind) -> list[str]:
    """List the names of the templates."""
    if parent.project.empty_repo or not parent.may(trees_api.list_tree):
        return []
    try:
        files = parent.ask(trees_api.list_tree, {"path": _folder(kind), "per_page": _MAX_TEMPLATES}).items
    except Failure:
        return []
    return [file.name.removesuffix(_SUFFIX) for file in files if file.type == "blob" and file.name.endswith(_SUFFIX)]


def template_or_none(parent: ProjectContext, kind: TemplateKind, names: list[str], requested: Any) -> str:
    """Return the text of the template that the URL names, or of the default template, or else that of the settings."""
    if isinstance(requested, str):
        name = requested.removesuffix(_SUFFIX)
    else:
        name = next((each for each in names if each.lower() == _DEFAULT), "")
    if name in names:
        return _text(parent, f"{_folder(kind)}/{name}{_SUFFIX}")
    return getattr(parent.project, f"{kind}s_template") or ""


def _text(parent: ProjectContext, path: str) -> str:
    try:
        content = parent.ask(lfs_api.get_raw_file, {"ref": parent.project.default_branch}, file_path=path)
    except Failure:
        return ""
    text: bytes = content.body or b""
    if content.body is None:
        text = b"".join(content.pieces(0, min(content.size or 0, _MAX_LENGTH)))
    text = text[:_MAX_LENGTH]
    return text.decode(errors="replace").replace("\0", "")


def _folder(kind: TemplateKind) -> str:
    return f".gitlab/{kind}_templates"
