"""One commit: what it says and changes, what is said about it, and doing it again or undoing it."""

from typing import Any
from urllib.parse import quote

from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.git.diffs.diffs import diff_between
from ingot.git.diffs.patches import stream_commit_diff, stream_commit_mail
from ingot.git.history.commits import commit_id_or_none
from ingot.repositories.commits.queries import find_commit
from ingot.repositories.commits.views import diff_view
from ingot.web.code.commit_comments import diff_with_comments
from ingot.web.code.location import readable_code
from ingot.web.code.patch_downloads import patch_response, split_suffix
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()


@pages.get("/:path/-/commit/:sha", open=True)
def show_commit(visit: Visit, db: Connection) -> PageResponse:
    """A commit with its difference; ``at`` names a line to write about. With ``.patch`` or ``.diff`` it is a file."""
    place, wanted = project_context(visit), split_suffix(visit.path["sha"])
    if wanted is None:
        return _commit_page(place, db)
    code = readable_code(place, db)
    if commit_id_or_none(code.repository, visit.path["sha"]) is not None:  # A branch or tag is called so.
        return _commit_page(place, db)
    commit = find_commit(code.repository, wanted.name)
    stream = stream_commit_mail if wanted.ending == "patch" else stream_commit_diff
    return patch_response(visit.path["sha"], stream(code.repository, commit))


@pages.get("/:path/-/commit/:sha/refs", open=True)
def show_refs(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """The branches and tags that lead to a commit; in a large repository that takes a while."""
    place = project_context(visit)
    refs = place.get("/repository/commits/:sha/refs", {"per_page": 50}, sha=visit.path["sha"])
    context = {"refs": refs.items, "total": refs.total, "place": place, "sha": visit.path["sha"]}
    if visit.fragment:
        return TemplateResponse("code/_commit_refs.html", context)
    return place.page("code/commit_refs.html", "commits", context)


@pages.post("/:path/-/commit/:sha/comments")
def post_comment(visit: Visit) -> PageResponse:
    """Say something about a line of the commit, or about all of it."""
    place, sha = project_context(visit), visit.path["sha"]
    form = {name: visit.form[name] for name in ("note", "path", "line", "line_type") if visit.form.get(name)}
    at = visit.form.get("at")
    name = at if isinstance(at, str) and at.replace("_", "").isalnum() else ""
    try:
        place.call("POST", "/repository/commits/:sha/comments", form, sha=sha)
    except RequestRefusal as refusal:
        typed = {"typed": str(visit.form.get("note", "")), "name": name, "errors": error_messages(refusal)}
        return visit.database.read(lambda db: _commit_page(place, db, typed, 422))
    return LocalRedirect(f"{place.url}/-/commit/{sha}#{name or 'discussion'}")


@pages.post("/:path/-/commit/:sha/cherry_pick")
def cherry_pick(visit: Visit) -> PageResponse:
    """Do it again on another branch."""
    return _apply_to_branch(visit, "cherry_pick")


@pages.post("/:path/-/commit/:sha/revert")
def revert(visit: Visit) -> PageResponse:
    """Undo it on a branch."""
    return _apply_to_branch(visit, "revert")


def _apply_to_branch(visit: Visit, verb: str) -> PageResponse:
    """On the branch itself, or on a new one that leads to a merge request."""
    place, sha = project_context(visit), visit.path["sha"]
    branch, target = (str(visit.form.get(name, "")).strip() for name in ("new_branch", "branch"))
    made = False
    try:
        if branch:
            place.call("POST", "/repository/branches", {"branch": branch, "ref": target})
            made = True
        place.call("POST", f"/repository/commits/:sha/{verb}", {"branch": branch or target}, sha=sha)
    except RequestRefusal as refusal:
        if made:  # Nothing is on it.
            place.call("DELETE", "/repository/branches/:branch", branch=branch)
        typed = {"verb": verb, "branch": target, "new_branch": branch, "errors": error_messages(refusal)}
        return visit.database.read(lambda db: _commit_page(place, db, {"redo": typed}, 422))
    if branch:
        return LocalRedirect(place.new_merge_request(branch, target))
    return LocalRedirect(f"{place.url}/-/commits/{quote(target)}")


def _commit_page(
    place: ProjectContext, db: Connection, typed: dict[str, Any] | None = None, status: int = 200
) -> TemplateResponse:
    visit, sha = place.visit, place.visit.path["sha"]
    code = readable_code(place, db)
    commit = find_commit(code.repository, sha)
    changes = diff_between(code.repository, commit.parents[0] if commit.parents else None, commit.oid).changes
    name = str((typed or {}).get("name") or visit.query.get("at", ""))
    said = diff_with_comments(place, db, commit.oid, [diff_view(change) for change in changes], name)
    parts = {**said._asdict(), "place": place, "name": name, "sha": commit.oid, "typed": ""}
    if visit.fragment and said.diff.part:
        return TemplateResponse("code/_commit_part.html", parts)
    if visit.fragment and said.at is not None:
        return TemplateResponse("code/_comment_row.html", parts)
    view = place.get("/repository/commits/:sha", sha=commit.oid)
    context: dict[str, Any] = {
        **parts,
        "commit": view,
        "title": view.title,
        "message": view.message.strip().partition("\n")[2].strip(),
        "signature": _signature_badge(place, commit.oid),
        "merge_requests": place.get("/repository/commits/:sha/merge_requests", sha=commit.oid).items,
        "may_write": place.may("POST", "/repository/commits"),
        "redo": {"verb": "", "branch": place.project.default_branch, "new_branch": ""},
        "errors": [],
        **(typed or {}),
    }
    return place.page("code/commit.html", "commits", context, status)


def _signature_badge(place: ProjectContext, oid: str) -> Any:
    try:
        return place.get("/repository/commits/:sha/signature", sha=oid)
    except NotFound:
        return None
