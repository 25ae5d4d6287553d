"""Commit page: message, diff, comments, cherry-pick and revert."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from ingot.accounts.users.commit_addresses import is_bot_address
from ingot.collaboration.notes import api as notes_api
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.integrations.views import external_builds_or_none
from ingot.repositories import browser
from ingot.repositories.branches import api as branches_api
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.repositories.commits import api as commits_api
from ingot.web.code.commit_comments import diff_with_comments
from ingot.web.code.location import readable_code
from ingot.web.code.patch_downloads import patch_response, split_suffix
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()


@pages.get("/:path/-/commit/:sha", open=True)
def show_commit(visit: Visit, db: Connection) -> PageResponse:
    """Show a commit with its diff; ``at`` names a line to comment on. ``.patch`` and ``.diff`` return a text file."""
    parent, suffixed = project_context(visit), split_suffix(visit.request.path["sha"])
    if suffixed is None:
        return _commit_page(parent, db)
    code = readable_code(parent)
    name = visit.request.path["sha"]
    if browser.commit_or_none(code.repository, name) is not None:  # A branch or tag has this name.
        return _commit_page(parent, db)
    return patch_response(name, browser.read_patch(code.repository, suffixed.name, suffixed.ending))


@pages.get("/:path/-/commit/:sha/refs", open=True)
def show_refs(visit: Visit) -> PageResponse:
    """List the branches and tags that contain a commit. Loaded separately, because large repositories take long."""
    parent = project_context(visit)
    refs = parent.ask(commits_api.list_commit_refs, {"per_page": 50}, sha=visit.request.path["sha"])
    context = {"refs": refs.items, "total": refs.total, "parent": parent, "sha": visit.request.path["sha"]}
    if visit.headers.fragment:
        return TemplateResponse("code/_commit_refs.html", context)
    return parent.page("code/commit_refs.html", "commits", context)


@pages.post("/:path/-/commit/:sha/comments", notice="Comment added.")
def post_comment(visit: Visit) -> PageResponse:
    """Comment on a line of the commit, or on the commit itself."""
    parent, sha = project_context(visit), visit.request.path["sha"]
    form = {
        name: visit.request.form[name] for name in ("note", "path", "line", "line_type") if visit.request.form.get(name)
    }
    at = visit.request.form.get("at")
    name = at if isinstance(at, str) and at.replace("_", "").isalnum() else ""
    try:
        parent.ask(notes_api.post_comment, form, sha=sha)
    except REQUEST_ERRORS as error:
        typed = {"typed": str(visit.request.form.get("note", "")), "name": name, "errors": error_messages(error)}
        return visit.database.read(lambda db: _commit_page(parent, db, typed, 422))
    return LocalRedirect(f"{parent.url}/-/commit/{sha}#{name or 'discussion'}")


@pages.post("/:path/-/commit/:sha/cherry_pick", notice="Commit cherry-picked.")
def cherry_pick(visit: Visit) -> PageResponse:
    """Cherry-pick the commit onto another branch."""
    return _apply_to_branch(visit, "cherry_pick", commit_writing_api.cherry_pick_commit)


@pages.post("/:path/-/commit/:sha/revert", notice="Commit reverted.")
def revert(visit: Visit) -> PageResponse:
    """Revert the commit on a branch."""
    return _apply_to_branch(visit, "revert", commit_writing_api.revert_commit)


def _apply_to_branch(visit: Visit, verb: str, endpoint: Callable[..., object]) -> PageResponse:
    """Commit to the branch itself, or to a new branch followed by the form for a merge request."""
    parent, sha = project_context(visit), visit.request.path["sha"]
    branch, target = (str(visit.request.form.get(name, "")).strip() for name in ("new_branch", "branch"))
    created = False
    try:
        if branch:
            parent.ask(branches_api.create_branch, {"branch": branch, "ref": target})
            created = True
        parent.ask(endpoint, {"branch": branch or target}, sha=sha)
    except REQUEST_ERRORS as error:
        if created:  # Delete the new branch: it has no commits.
            parent.ask(branches_api.delete_branch, branch=branch)
        typed = {"verb": verb, "branch": target, "new_branch": branch, "errors": error_messages(error)}
        return visit.database.read(lambda db: _commit_page(parent, db, {"redo": typed}, 422))
    if branch:
        return LocalRedirect(parent.new_merge_request(branch, target))
    return LocalRedirect(f"{parent.url}/-/commits/{quote(target)}")


def _commit_page(
    parent: ProjectContext, db: Connection, typed: dict[str, Any] | None = None, status: int = 200
) -> TemplateResponse:
    visit, sha = parent.visit, parent.visit.request.path["sha"]
    commit = browser.commit_diff(db, readable_code(parent).repository, sha)
    name = str((typed or {}).get("name") or visit.request.query.get("at", ""))
    discussed = diff_with_comments(parent, db, commit.oid, commit.diffs, name)
    parts = {**discussed._asdict(), "parent": parent, "name": name, "sha": commit.oid, "typed": ""}
    if visit.headers.fragment and discussed.diff.part:
        return TemplateResponse("code/_commit_part.html", parts)
    if visit.headers.fragment and discussed.at is not None:
        return TemplateResponse("code/_comment_row.html", parts)
    view = parent.ask(commits_api.get_commit, sha=commit.oid)
    context: dict[str, Any] = {
        **parts,
        "commit": view,
        "by_bots": {address for address in (view.author_email, view.committer_email) if is_bot_address(address)},
        "title": view.title,
        "message": view.message.strip().partition("\n")[2].strip(),
        "signature": _signature_badge(parent, commit.oid),
        "merge_requests": parent.ask(commits_api.list_commit_merge_requests, sha=commit.oid).items,
        "builds": external_builds_or_none(db, parent.project.id, commit.oid),
        "may_write": parent.may(commit_writing_api.create_commit),
        "redo": {"verb": "", "branch": parent.project.default_branch, "new_branch": ""},
        "errors": [],
        **(typed or {}),
    }
    return parent.page("code/commit.html", "commits", context, status)


def _signature_badge(parent: ProjectContext, oid: str) -> Any:
    try:
        return parent.ask(commits_api.get_commit_signature, sha=oid)
    except NotFound:
        return None
