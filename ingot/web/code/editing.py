"""Writing in the browser: new files and folders, changed ones, uploads and deletions, each a commit of its own."""

from base64 import b64encode
from typing import Any
from urllib.parse import quote

from ingot.api.params import Upload
from ingot.db.connection import Connection
from ingot.web.code.drafts import Draft, draft_of, rewritten
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_TEXT_LIMIT = 4 * 2**20
_UPLOAD_LIMIT = 32 * 2**20
_KEPT_FOLDER = ".gitkeep"
_CHANGED = "has changed since you started"


@pages.get("/:path/-/new/:rest", slashes="rest")
def show_new(visit: Visit, db: Connection) -> Reply:
    """A new file in a folder."""
    draft = draft_of(visit, db, needs_file=False)
    return _page(draft, "new", {"file_path": str(visit.query.get("file_name", "")), "content": ""})


@pages.post("/:path/-/new/:rest", slashes="rest", limit=_TEXT_LIMIT)
def create_file(visit: Visit) -> Reply:
    """Commit a new file."""
    draft = visit.database.read(lambda db: draft_of(visit, db, needs_file=False))
    typed = _typed(visit, "file_path", "content")
    path = draft.below(typed["file_path"])
    action = {"action": "create", "file_path": path, "content": typed["content"].replace("\r\n", "\n")}
    return _commit(draft, "new", typed, action, f"Add {path}", path)


@pages.get("/:path/-/edit/:rest", slashes="rest")
def show_edit(visit: Visit, db: Connection) -> Reply:
    """A file's text in a form."""
    draft = draft_of(visit, db, needs_file=True)
    if draft.text is None:
        return Redirect(draft.address("blob", draft.path))
    return _page(
        draft, "edit", {"file_path": draft.path, "content": draft.text, "last_commit_id": draft.last_commit_id}
    )


@pages.post("/:path/-/edit/:rest", slashes="rest", limit=_TEXT_LIMIT)
def edit_file(visit: Visit) -> Reply:
    """Commit a file's new text, maybe under a new name; what somebody else changed meanwhile is not written over."""
    draft = visit.database.read(lambda db: draft_of(visit, db, needs_file=False))
    typed = _typed(visit, "file_path", "content", "last_commit_id")
    path = typed["file_path"].strip("/ ") or draft.path
    content = rewritten(draft.body or b"", typed["content"])
    action = {"action": "update", "file_path": path, "content": b64encode(content).decode(), "encoding": "base64"}
    if path != draft.path:
        action |= {"action": "move", "previous_path": draft.path}
    if "overwrite" not in visit.form:
        action["last_commit_id"] = typed["last_commit_id"]
    return _commit(draft, "edit", typed, action, f"Update {path}", path)


@pages.get("/:path/-/delete/:rest", slashes="rest")
def show_delete(visit: Visit, db: Connection) -> Reply:
    """Whether it is really to go."""
    draft = draft_of(visit, db, needs_file=True)
    return _page(draft, "delete", {"file_path": draft.path, "last_commit_id": draft.last_commit_id})


@pages.post("/:path/-/delete/:rest", slashes="rest")
def delete_file(visit: Visit) -> Reply:
    """Commit that a file is gone."""
    draft = visit.database.read(lambda db: draft_of(visit, db, needs_file=True))
    typed = _typed(visit, "last_commit_id") | {"file_path": draft.path}
    action = {"action": "delete", "file_path": draft.path}
    if "overwrite" not in visit.form:
        action["last_commit_id"] = typed["last_commit_id"]
    return _commit(draft, "delete", typed, action, f"Delete {draft.path}", "")


@pages.get("/:path/-/upload/:rest", slashes="rest")
def show_upload(visit: Visit, db: Connection) -> Reply:
    """A file from the visitor's disk."""
    return _page(draft_of(visit, db, needs_file=False), "upload", {"file_path": ""})


@pages.post("/:path/-/upload/:rest", slashes="rest", limit=_UPLOAD_LIMIT)
def upload_file(visit: Visit) -> Reply:
    """Commit what was uploaded; a file that is there already is replaced where that is said."""
    draft = visit.database.read(lambda db: draft_of(visit, db, needs_file=False))
    typed = _typed(visit, "file_path")
    upload = visit.form.get("file")
    if not isinstance(upload, Upload):
        return _page(draft, "upload", typed, ["Choose a file."], 422)
    path = draft.below(typed["file_path"] or upload.filename)
    content = b64encode(upload.read()).decode()
    verb = "update" if "replace" in visit.form else "create"
    action = {"action": verb, "file_path": path, "content": content, "encoding": "base64"}
    return _commit(draft, "upload", typed, action, f"Upload {path}", path)


@pages.get("/:path/-/new_dir/:rest", slashes="rest")
def show_new_folder(visit: Visit, db: Connection) -> Reply:
    """A new folder."""
    return _page(draft_of(visit, db, needs_file=False), "folder", {"file_path": ""})


@pages.post("/:path/-/new_dir/:rest", slashes="rest")
def create_folder(visit: Visit) -> Reply:
    """Commit an empty file, since git keeps no folder without one."""
    draft = visit.database.read(lambda db: draft_of(visit, db, needs_file=False))
    typed = _typed(visit, "file_path")
    name = typed["file_path"].strip("/ ")
    if not name:
        return _page(draft, "folder", typed, ["Give it a name."], 422)
    folder = draft.below(name)
    action = {"action": "create", "file_path": f"{folder}/{_KEPT_FOLDER}", "content": ""}
    return _commit(draft, "folder", typed, action, f"Add the folder {folder}", folder)


def _typed(visit: Visit, *names: str) -> dict[str, str]:
    fields = (*names, "commit_message", "branch")
    return {name: value if isinstance(value := visit.form.get(name, ""), str) else "" for name in fields}


def _commit(draft: Draft, what: str, typed: dict[str, str], action: dict[str, Any], words: str, shown: str) -> Reply:
    """Make the commit; on a new branch it leads to a merge request, and a refusal back to what was typed."""
    place = draft.place
    branch = typed["branch"].strip() or draft.branch
    sent: dict[str, Any] = {"branch": branch, "commit_message": typed["commit_message"].strip() or words}
    sent["actions"] = [action]
    if branch != draft.branch and draft.exists:
        sent["start_branch"] = draft.branch
    try:
        place.call("POST", "/repository/commits", sent)
    except Refusal as refusal:
        return _page(draft, what, typed, sentences(refusal), 422)
    if branch != draft.branch and draft.exists:
        return Redirect(place.new_merge_request(branch, draft.branch))
    word = "tree" if what in ("delete", "folder") else "blob"
    path = shown if what != "delete" else draft.path.rpartition("/")[0]
    return Redirect(f"{place.url}/-/{word}/{quote(branch)}" + (f"/{quote(path)}" if path else ""))


def _page(draft: Draft, what: str, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200) -> Page:
    """The form, or why there is none."""
    errors = errors or []
    context: dict[str, Any] = {
        "draft": draft,
        "what": what,
        "typed": {"commit_message": "", "last_commit_id": "", "branch": draft.proposed, **typed},
        "errors": errors,
        "changed": any(_CHANGED in error for error in errors),
    }
    return draft.place.page("code/edit.html", "code", context, status)
