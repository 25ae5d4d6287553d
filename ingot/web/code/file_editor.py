"""File editor: create, edit, upload and delete files and folders, each with one commit."""

from base64 import b64encode
from typing import Any
from urllib.parse import quote

from ingot.core.api.params import Upload
from ingot.repositories import browser
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.web.code.branch_requests import request_address
from ingot.web.code.diffs import RenderedDiff, render_diff
from ingot.web.code.edit_context import FileDraft, encode_like, find_draft
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
_MAX_TEXT_BYTES = 4 * 2**20
_MAX_UPLOAD_BYTES = 32 * 2**20
_PLACEHOLDER_FILE = ".gitkeep"
_CHANGED = "has changed since you started"


@pages.get("/:path/-/new/:rest", slashes="rest")
def show_new(visit: Visit) -> PageResponse:
    """Show the form for a new file."""
    draft = find_draft(visit, needs_file=False)
    return _editor_page(draft, "new", {"file_path": str(visit.request.query.get("file_name", "")), "content": ""})


@pages.post("/:path/-/new/:rest", notice="File committed.", slashes="rest", limit=_MAX_TEXT_BYTES)
def create_file(visit: Visit) -> PageResponse:
    """Commit a new file."""
    draft = find_draft(visit, needs_file=False)
    typed = _form_values(visit, "file_path", "content")
    path = draft.below(typed["file_path"])
    content = typed["content"].replace("\r\n", "\n")
    if "preview" in visit.request.form:
        return _editor_page(draft, "new", typed, changes=_changes(draft, path, content.encode()))
    action = {"action": "create", "file_path": path, "content": content}
    return _create_commit(draft, "new", typed, action, f"Add {path}", path)


@pages.get("/:path/-/edit/:rest", slashes="rest")
def show_edit(visit: Visit) -> PageResponse:
    """Show the editor for a file."""
    draft = find_draft(visit, needs_file=True)
    if draft.text is None:
        return LocalRedirect(draft.address("blob", draft.path))
    return _editor_page(
        draft, "edit", {"file_path": draft.path, "content": draft.text, "last_commit_id": draft.last_commit_id}
    )


@pages.post("/:path/-/edit/:rest", notice="File committed.", slashes="rest", limit=_MAX_TEXT_BYTES)
def edit_file(visit: Visit) -> PageResponse:
    """Commit changes to a file, possibly with a new path; rejected if the file has changed in the meantime."""
    draft = find_draft(visit, needs_file=False)
    typed = _form_values(visit, "file_path", "content", "last_commit_id")
    path = typed["file_path"].strip("/ ") or draft.path
    content = encode_like(draft.body or b"", typed["content"])
    if "preview" in visit.request.form:
        return _editor_page(draft, "edit", typed, changes=_changes(draft, path, content))
    action = {"action": "update", "file_path": path, "content": b64encode(content).decode(), "encoding": "base64"}
    if path != draft.path:
        action |= {"action": "move", "previous_path": draft.path}
    if "overwrite" not in visit.request.form:
        action["last_commit_id"] = typed["last_commit_id"]
    return _create_commit(draft, "edit", typed, action, f"Update {path}", path)


@pages.get("/:path/-/delete/:rest", slashes="rest")
def show_delete(visit: Visit) -> PageResponse:
    """Ask for confirmation before deleting a file."""
    draft = find_draft(visit, needs_file=True)
    return _editor_page(draft, "delete", {"file_path": draft.path, "last_commit_id": draft.last_commit_id})


@pages.post("/:path/-/delete/:rest", notice="File deleted.", slashes="rest")
def delete_file(visit: Visit) -> PageResponse:
    """Commit the deletion of a file."""
    draft = find_draft(visit, needs_file=True)
    typed = _form_values(visit, "last_commit_id") | {"file_path": draft.path}
    action = {"action": "delete", "file_path": draft.path}
    if "overwrite" not in visit.request.form:
        action["last_commit_id"] = typed["last_commit_id"]
    return _create_commit(draft, "delete", typed, action, f"Delete {draft.path}", "")


@pages.get("/:path/-/upload/:rest", slashes="rest")
def show_upload(visit: Visit) -> PageResponse:
    """Show the upload form."""
    return _editor_page(find_draft(visit, needs_file=False), "upload", {"file_path": ""})


@pages.post("/:path/-/upload/:rest", notice="File uploaded.", slashes="rest", limit=_MAX_UPLOAD_BYTES)
def upload_file(visit: Visit) -> PageResponse:
    """Commit an uploaded file; an existing file is replaced only if the form allows it."""
    draft = find_draft(visit, needs_file=False)
    typed = _form_values(visit, "file_path")
    upload = visit.request.form.get("file")
    if not isinstance(upload, Upload):
        return _editor_page(draft, "upload", typed, ["Select a file."], 422)
    path = draft.below(typed["file_path"] or upload.filename)
    content = b64encode(upload.read()).decode()
    verb = "update" if "replace" in visit.request.form else "create"
    action = {"action": verb, "file_path": path, "content": content, "encoding": "base64"}
    return _create_commit(draft, "upload", typed, action, f"Upload {path}", path)


@pages.get("/:path/-/new_dir/:rest", slashes="rest")
def show_new_folder(visit: Visit) -> PageResponse:
    """Show the form for a new folder."""
    return _editor_page(find_draft(visit, needs_file=False), "folder", {"file_path": ""})


@pages.post("/:path/-/new_dir/:rest", notice="Folder created.", slashes="rest")
def create_folder(visit: Visit) -> PageResponse:
    """Commit an empty file in the new folder, since git does not store empty folders."""
    draft = find_draft(visit, needs_file=False)
    typed = _form_values(visit, "file_path")
    name = typed["file_path"].strip("/ ")
    if not name:
        return _editor_page(draft, "folder", typed, ["Enter a folder name."], 422)
    folder = draft.below(name)
    action = {"action": "create", "file_path": f"{folder}/{_PLACEHOLDER_FILE}", "content": ""}
    return _create_commit(draft, "folder", typed, action, f"Add the folder {folder}", folder)


def _form_values(visit: Visit, *names: str) -> dict[str, str]:
    fields = (*names, "commit_message", "branch")
    return {name: value if isinstance(value := visit.request.form.get(name, ""), str) else "" for name in fields}


def _create_commit(
    draft: FileDraft,
    action_name: str,
    typed: dict[str, str],
    action: dict[str, Any],
    default_message: str,
    path_after: str,
) -> PageResponse:
    """Create the commit. A new branch continues with the merge request form; an error shows the form again."""
    parent = draft.parent
    branch = typed["branch"].strip() or draft.branch
    params: dict[str, Any] = {"branch": branch, "commit_message": typed["commit_message"].strip() or default_message}
    params["actions"] = [action]
    if branch != draft.branch and draft.exists:
        params["start_branch"] = draft.branch
    try:
        parent.ask(commit_writing_api.create_commit, params)
    except REQUEST_ERRORS as error:
        return _editor_page(draft, action_name, typed, error_messages(error), 422)
    if branch != draft.branch and draft.exists:
        return LocalRedirect(request_address(parent, branch, draft.branch))
    page = "tree" if action_name in ("delete", "folder") else "blob"
    path = path_after if action_name != "delete" else draft.path.rpartition("/")[0]
    return LocalRedirect(f"{parent.url}/-/{page}/{quote(branch)}" + (f"/{quote(path)}" if path else ""))


def _changes(draft: FileDraft, path: str, content: bytes) -> RenderedDiff:
    """Return the diff from the current file to the content of the form."""
    old_path = draft.path if draft.body is not None else None
    item = browser.draft_diff(old_path, path, draft.body or b"", content)
    return render_diff([item], {"only": "0"})


def _editor_page(
    draft: FileDraft,
    action_name: str,
    typed: dict[str, Any],
    errors: list[str] | None = None,
    status: int = 200,
    changes: RenderedDiff | None = None,
) -> TemplateResponse:
    """Render the form, or the reason why the user may not edit."""
    errors = errors or []
    context: dict[str, Any] = {
        "draft": draft,
        "action": action_name,
        "typed": {"commit_message": "", "last_commit_id": "", "branch": draft.proposed, **typed},
        "errors": errors,
        "changed": any(_CHANGED in error for error in errors),
        "changes": changes,
    }
    return draft.parent.page("code/edit.html", "code", context, status)
