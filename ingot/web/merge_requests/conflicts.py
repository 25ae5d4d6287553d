"""Page on which merge conflicts are resolved: a side for each conflict, a version of the file, or an edited file."""

from typing import Any, Literal, NamedTuple

import msgspec

from ingot.collaboration.merge_requests.merge.conflicts import (
    BranchConflicts,
    ConflictResolution,
    FileConflict,
    FileResolution,
    list_conflicts,
    marked_text,
    resolve_conflicts,
)
from ingot.core.errors import Conflict, Invalid
from ingot.projects.projects.api import repository_store
from ingot.web.form_errors import error_messages
from ingot.web.merge_requests.context import MergeRequestContext, merge_request_context
from ingot.web.page_routes import BytesResponse, LocalRedirect, PageResponse, PageRoutes, Visit

pages = PageRoutes()
_CONTEXT_LINES = 3
_MAX_FORM_BYTES = 16 * 2**20
"""The form contains the text of each file, for editing."""
_SIDES: dict[str, Literal["ours", "theirs"]] = {"ours": "ours", "theirs": "theirs"}


class ShownHunk(NamedTuple):
    """Part of a file: some unchanged lines, or a conflict with its two sides."""

    id: str
    conflict: bool
    ours: list[str]
    theirs: list[str]
    skipped: int = 0
    """Number of unchanged lines that are left out."""
    chosen: str = ""


class ShownConflict(NamedTuple):
    """File with conflicts, as shown in the form."""

    number: int
    path: str
    hunks: list[ShownHunk]
    text: str
    """The whole file with conflict markers, for editing."""
    editable: bool
    mode: str
    """``sections`` to choose a side for each conflict, ``edit``, ``ours`` or ``theirs``."""
    deleted_by: str = ""
    """The side that deleted the file, if one did."""

    @property
    def conflicts(self) -> int:
        """Return the number of conflicts."""
        return sum(hunk.conflict for hunk in self.hunks)


@pages.get("/:path/-/merge_requests/:merge_request_iid/conflicts")
def show_conflicts(visit: Visit) -> PageResponse:
    """Show the conflicting files with the forms that resolve them."""
    return _page(merge_request_context(visit))


@pages.get("/:path/-/merge_requests/:merge_request_iid/conflicts.json")
def send_conflicts(visit: Visit) -> PageResponse:
    """Return the conflicting files and their sections as JSON."""
    conflicts = _conflicts(merge_request_context(visit))
    files = [
        {
            "old_path": file.path,
            "new_path": file.path,
            "type": "text" if file.hunks is not None else "text-editor",
            "sections": [
                {"id": hunk.id, "conflict": hunk.conflict, "head": hunk.ours, "origin": hunk.theirs}
                for hunk in file.hunks or ()
            ],
        }
        for file in conflicts.files
    ]
    content = {
        "commit_message": conflicts.commit_message,
        "commit_sha": conflicts.head_oid,
        "target_sha": conflicts.target_oid,
        "source_branch": conflicts.source_branch,
        "target_branch": conflicts.target_branch,
        "files": files,
    }
    return BytesResponse(msgspec.json.encode(content), "application/json")


@pages.post(
    "/:path/-/merge_requests/:merge_request_iid/resolve_conflicts",
    notice="Conflicts resolved.",
    limit=_MAX_FORM_BYTES,
)
def resolve(visit: Visit) -> PageResponse:
    """Commit the chosen results to the source branch."""
    merge_request, form = merge_request_context(visit), visit.request.form
    resolution = ConflictResolution(
        _text(form.get("head")), _text(form.get("target")), _text(form.get("message")), _file_resolutions(form)
    )
    record = merge_request.lookup.merge_request
    store = repository_store(visit.settings)
    try:
        resolve_conflicts(visit.database, store, visit.viewer.actor, record, resolution)
    except Conflict as error:
        return _page(merge_request_context(visit), error_messages(error), 409)
    except Invalid as error:
        return _page(merge_request_context(visit), error_messages(error), 422)
    return LocalRedirect(merge_request.url)


def _conflicts(merge_request: MergeRequestContext) -> BranchConflicts:
    visit = merge_request.visit
    store = repository_store(visit.settings)
    return list_conflicts(visit.database, store, visit.viewer.actor, merge_request.lookup.merge_request)


def _page(merge_request: MergeRequestContext, errors: list[str] | None = None, status: int = 200) -> PageResponse:
    try:
        conflicts: BranchConflicts | None = _conflicts(merge_request)
    except Invalid as error:  # Nothing that this page could resolve.
        conflicts, errors = None, [*(errors or []), *error_messages(error)]
    form = merge_request.visit.request.form
    typed = {file["path"]: file for file in _sent_files(form)}
    files = (
        [_shown(number, file, conflicts, typed.get(file.path, {})) for number, file in enumerate(conflicts.files)]
        if conflicts
        else []
    )
    context = {
        "conflicts": conflicts,
        "files": files,
        "message": _text(form.get("message")) or (conflicts.commit_message if conflicts else ""),
        "errors": errors or [],
    }
    return merge_request.page("merge_requests/conflicts.html", "conflicts", context, status)


def _shown(number: int, file: FileConflict, conflicts: BranchConflicts, typed: dict[str, Any]) -> ShownConflict:
    sections = typed.get("sections")
    chosen = sections if isinstance(sections, dict) else {}
    text = marked_text(file, conflicts.source_branch, conflicts.target_branch) if file.hunks is not None else ""
    versions = file.versions
    mode = _text(typed.get("mode")) or ("sections" if file.hunks is not None else "")
    return ShownConflict(
        number,
        file.path,
        [
            ShownHunk(
                hunk.id, hunk.conflict, *_sides(hunk.conflict, hunk.ours, hunk.theirs), _text(chosen.get(hunk.id))
            )
            for hunk in file.hunks or ()
        ],
        _text(typed.get("content")) if mode == "edit" and typed.get("content") else text,
        editable=file.hunks is not None,
        mode=mode,
        deleted_by="ours" if versions.ours is None else "theirs" if versions.theirs is None else "",
    )


def _sides(conflict: bool, ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[list[str], list[str], int]:
    """Return the lines of both sides; of unchanged lines only those next to conflicts, and the number of others."""
    if conflict:
        return _shown_lines(ours), _shown_lines(theirs), 0
    lines = _shown_lines(ours)
    if len(lines) <= 2 * _CONTEXT_LINES:
        return lines, [], 0
    return lines[:_CONTEXT_LINES], lines[-_CONTEXT_LINES:], len(lines) - 2 * _CONTEXT_LINES


def _shown_lines(lines: tuple[str, ...]) -> list[str]:
    return [line.rstrip("\r\n") for line in lines]


def _sent_files(form: dict[str, Any]) -> list[dict[str, Any]]:
    files = form.get("files")
    sent = list(files.values()) if isinstance(files, dict) else files if isinstance(files, list) else []
    return [file for file in sent if isinstance(file, dict) and isinstance(file.get("path"), str)]


def _file_resolutions(form: dict[str, Any]) -> list[FileResolution]:
    return [_file_resolution(file) for file in _sent_files(form)]


def _file_resolution(file: dict[str, Any]) -> FileResolution:
    mode, sections = _text(file.get("mode")), file.get("sections")
    if mode == "edit":
        return FileResolution(file["path"], content=_text(file.get("content")))
    if mode in _SIDES:
        return FileResolution(file["path"], side=_SIDES[mode])
    chosen = sections if isinstance(sections, dict) else {}
    return FileResolution(
        file["path"], sections={str(name): _SIDES[side] for name, side in chosen.items() if side in _SIDES}
    )


def _text(value: Any) -> str:
    """Return the text with line feeds only; browsers send fields with carriage returns."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""
