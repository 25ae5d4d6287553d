"""One commit: what it says and changes, what is said about it, and doing it again or undoing it."""

from typing import Any
from urllib.parse import quote

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.git.commits import commit_id
from ingot.git.diffs import diff_between
from ingot.git.patches import stream_commit_diff, stream_commit_mail
from ingot.repository.commits.queries import find_commit
from ingot.repository.commits.views import diff_view
from ingot.web.code.mails import ended, sent
from ingot.web.code.remarks import discussed
from ingot.web.code.where import code_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences

pages = Pages()


@pages.get("/:path/-/commit/:sha", open=True)
def show_commit(visit: Visit, db: Connection) -> Reply:
    """A commit with its difference; ``at`` names a line to write about. With ``.patch`` or ``.diff`` it is a file."""
    place, wanted = place_of(visit), ended(visit.path["sha"])
    if wanted is None:
        return _show(place, db)
    code = code_of(place, db)
    if commit_id(code.repository, visit.path["sha"]) is not None:  # A branch or tag is called so.
        return _show(place, db)
    commit = find_commit(code.repository, wanted.name)
    stream = stream_commit_mail if wanted.ending == "patch" else stream_commit_diff
    return sent(visit.path["sha"], stream(code.repository, commit))


@pages.get("/:path/-/commit/:sha/refs", open=True)
def show_refs(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The branches and tags that lead to a commit; in a large repository that takes a while."""
    place = place_of(visit)
    refs = place.get("/repository/commits/:sha/refs", {"per_page": 50}, sha=visit.path["sha"])
    context = {"refs": refs.items, "total": refs.total, "place": place, "sha": visit.path["sha"]}
    if visit.fragment:
        return Page("code/_commit_refs.html", context)
    return place.page("code/commit_refs.html", "commits", context)


@pages.post("/:path/-/commit/:sha/comments")
def post_comment(visit: Visit) -> Reply:
    """Say something about a line of the commit, or about all of it."""
    place, sha = place_of(visit), visit.path["sha"]
    form = {name: visit.form[name] for name in ("note", "path", "line", "line_type") if visit.form.get(name)}
    at = visit.form.get("at")
    name = at if isinstance(at, str) and at.replace("_", "").isalnum() else ""
    try:
        place.call("POST", "/repository/commits/:sha/comments", form, sha=sha)
    except Refusal as refusal:
        typed = {"typed": str(visit.form.get("note", "")), "name": name, "errors": sentences(refusal)}
        return visit.database.read(lambda db: _show(place, db, typed, 422))
    return Redirect(f"{place.url}/-/commit/{sha}#{name or 'discussion'}")


@pages.post("/:path/-/commit/:sha/cherry_pick")
def cherry_pick(visit: Visit) -> Reply:
    """Do it again on another branch."""
    return _redo(visit, "cherry_pick")


@pages.post("/:path/-/commit/:sha/revert")
def revert(visit: Visit) -> Reply:
    """Undo it on a branch."""
    return _redo(visit, "revert")


def _redo(visit: Visit, verb: str) -> Reply:
    """On the branch itself, or on a new one that leads to a merge request."""
    place, sha = place_of(visit), visit.path["sha"]
    branch, target = (str(visit.form.get(name, "")).strip() for name in ("new_branch", "branch"))
    made = False
    try:
        if branch:
            place.call("POST", "/repository/branches", {"branch": branch, "ref": target})
            made = True
        place.call("POST", f"/repository/commits/:sha/{verb}", {"branch": branch or target}, sha=sha)
    except Refusal as refusal:
        if made:  # Nothing is on it.
            place.call("DELETE", "/repository/branches/:branch", branch=branch)
        typed = {"verb": verb, "branch": target, "new_branch": branch, "errors": sentences(refusal)}
        return visit.database.read(lambda db: _show(place, db, {"redo": typed}, 422))
    if branch:
        return Redirect(place.new_merge_request(branch, target))
    return Redirect(f"{place.url}/-/commits/{quote(target)}")


def _show(place: Place, db: Connection, typed: dict[str, Any] | None = None, status: int = 200) -> Page:
    visit, sha = place.visit, place.visit.path["sha"]
    code = code_of(place, db)
    commit = find_commit(code.repository, sha)
    changes = diff_between(code.repository, commit.parents[0] if commit.parents else None, commit.oid).changes
    name = str((typed or {}).get("name") or visit.query.get("at", ""))
    said = discussed(place, db, commit.oid, [diff_view(change) for change in changes], name)
    parts = {**said._asdict(), "place": place, "name": name, "sha": commit.oid, "typed": ""}
    if visit.fragment and said.diff.part:
        return Page("code/_commit_part.html", parts)
    if visit.fragment and said.at is not None:
        return Page("code/_comment_row.html", parts)
    view = place.get("/repository/commits/:sha", sha=commit.oid)
    context: dict[str, Any] = {
        **parts,
        "commit": view,
        "title": view.title,
        "message": view.message.strip().partition("\n")[2].strip(),
        "signature": _signature(place, commit.oid),
        "merge_requests": place.get("/repository/commits/:sha/merge_requests", sha=commit.oid).items,
        "may_write": place.may("POST", "/repository/commits"),
        "redo": {"verb": "", "branch": place.project.default_branch, "new_branch": ""},
        "errors": [],
        **(typed or {}),
    }
    return place.page("code/commit.html", "commits", context, status)


def _signature(place: Place, oid: str) -> Any:
    try:
        return place.get("/repository/commits/:sha/signature", sha=oid)
    except NotFound:
        return None
