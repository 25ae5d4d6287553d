"""Releases with their notes and downloads."""

from typing import Any
from urllib.parse import quote

from ingot.collaboration.milestones import api as milestones_api
from ingot.collaboration.releases import api as releases_api
from ingot.collaboration.releases.params import CreateLink
from ingot.collaboration.releases.service import require_may_add_link
from ingot.collaboration.releases.views import ReleaseView, release_signatures
from ingot.core.api.params import Upload
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Invalid, NotFound
from ingot.projects.uploads import api as uploads_api
from ingot.web.code.release_notes import generated_notes
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import (
    ExternalRedirect,
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    text_field,
)
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.request_auth import token_visit
from ingot.web.texts import render_markdown

pages = PageRoutes()
_FIELDS = ("tag_name", "ref", "name", "description", "tag_message")
_ASSET_FIELDS = ("name", "url", "link_type")
_LINK_TYPES = {"other": "Other", "package": "Package", "image": "Image", "runbook": "Runbook"}
_MAX_MILESTONES = 100
_MAX_UPLOAD_BYTES = 512 * 2**20
"""Above the usual maximum of the instance, which the endpoint of uploads applies."""


@pages.get("/:path/-/releases", open=True)
def show_releases(visit: Visit, db: Connection) -> PageResponse:
    """List the releases, newest first."""
    parent = project_context(visit)
    listing = parent.ask(
        releases_api.list_releases, {"page": str(visit.request.query.get("page", "1")), "per_page": "10"}
    )
    repository = parent.find(releases_api.list_releases).repository
    context = {
        "releases": listing,
        **_shared_context(parent),
        "signatures": release_signatures(db, repository, listing.items),
    }
    return parent.page("code/releases.html", "code", context)


@pages.get("/:path/-/releases/new")
def show_form(visit: Visit) -> PageResponse:
    """Show the form for a new release."""
    parent = project_context(visit)
    typed = dict.fromkeys(_FIELDS, "") | {"ref": parent.project.default_branch or ""}
    return _release_form(parent, typed | {"tag_name": str(visit.request.query.get("tag_name", ""))}, new=True)


@pages.get("/:path/-/releases/permalink/latest", open=True)
def show_latest(visit: Visit) -> PageResponse:
    """Redirect to the latest release."""
    parent = project_context(visit)
    return LocalRedirect(
        f"{parent.url}/-/releases/{quote(parent.ask(releases_api.get_latest_release).tag_name, safe='')}"
    )


@pages.get("/:path/-/releases/:tag", open=True)
def show_release(visit: Visit) -> PageResponse:
    """Show a release."""
    return _release_page(project_context(visit))


@pages.get("/:path/-/releases/:tag/edit")
def show_edit(visit: Visit) -> PageResponse:
    """Show the form for editing a release."""
    parent = project_context(visit)
    release = parent.ask(releases_api.get_release, tag_name=visit.request.path["tag"])
    typed = {"tag_name": release.tag_name, "name": release.name, "description": release.description or ""}
    return _release_form(parent, typed, new=False, release=release)


@pages.get("/:path/-/releases/:tag/downloads/:rest", open=True, slashes="rest")
def show_download(visit: Visit) -> PageResponse:
    """Redirect to the release asset with this path."""
    parent = project_context(token_visit(visit))
    release = parent.ask(releases_api.get_release, tag_name=visit.request.path["tag"])
    suffixes = f"/downloads/{quote(visit.request.path['rest'])}", f"/downloads/{visit.request.path['rest']}"
    for link in release.assets.links:
        matches = link.direct_asset_url != link.url and link.direct_asset_url.endswith(suffixes)
        if matches and link.url.startswith(("https://", "http://")):
            return ExternalRedirect(link.url)
    raise NotFound("Link")


@pages.post("/:path/-/releases", notice="Release created.")
def create_release(visit: Visit) -> PageResponse:
    """Create a release, and its tag if it does not exist; or fill in the notes of the form."""
    parent, typed = project_context(visit), {name: str(visit.request.form.get(name, "")) for name in _FIELDS}
    if "generate_notes" in visit.request.form:
        return _with_notes(parent, typed)
    params = {name: value for name, value in typed.items() if value} | _milestone_params(visit)
    try:
        release = parent.ask(releases_api.create_release, params)
    except REQUEST_ERRORS as error:
        return _release_form(parent, typed, error_messages(error), 422, new=True)
    return LocalRedirect(_release_url(parent, release.tag_name))


@pages.put("/:path/-/releases/:tag", notice="Release saved.")
def edit_release(visit: Visit) -> PageResponse:
    """Update a release; or fill in the notes of the form."""
    parent, tag = project_context(visit), visit.request.path["tag"]
    typed = {name: str(visit.request.form.get(name, "")) for name in ("name", "description")}
    release = parent.ask(releases_api.get_release, tag_name=tag)
    if "generate_notes" in visit.request.form:
        return _with_notes(parent, {**typed, "tag_name": tag}, release)
    try:
        parent.ask(releases_api.edit_release, typed | _milestone_params(visit), tag_name=tag)
    except REQUEST_ERRORS as error:
        return _release_form(parent, {**typed, "tag_name": tag}, error_messages(error), 422, new=False, release=release)
    return LocalRedirect(_release_url(parent, tag))


@pages.post("/:path/-/releases/:tag/links", notice="Asset added.", limit=_MAX_UPLOAD_BYTES)
def create_asset(visit: Visit) -> PageResponse:
    """Add a link to a release: to an address, or to a file that is uploaded with the form."""
    parent, tag = project_context(visit), visit.request.path["tag"]
    if not parent.may(releases_api.create_release_link, tag_name=tag):
        raise Denied
    typed = {name: text_field(visit.request.form, name).strip() for name in _ASSET_FIELDS}
    file = visit.request.form.get("file")
    try:
        if isinstance(file, Upload):
            typed |= _upload(parent, tag, file, typed)
        elif not typed["url"]:
            raise Invalid("Select a file.")
        params = {name: value for name, value in typed.items() if value}
        parent.ask(releases_api.create_release_link, {"name": typed["url"], **params}, tag_name=tag)
    except REQUEST_ERRORS as error:
        return _release_page(parent, typed, error_messages(error), 422)
    finally:
        if isinstance(file, Upload):
            file.file.close()
    return LocalRedirect(_release_url(parent, tag))


@pages.delete("/:path/-/releases/:tag/links/:link", notice="Asset removed.")
def delete_asset(visit: Visit) -> PageResponse:
    """Remove a link from a release; an uploaded file stays for the texts that reference it."""
    parent, tag = project_context(visit), visit.request.path["tag"]
    parent.ask(releases_api.delete_release_link, tag_name=tag, link_id=visit.request.path["link"])
    return LocalRedirect(_release_url(parent, tag))


@pages.delete("/:path/-/releases/:tag", notice="Release deleted.")
def delete_release(visit: Visit) -> PageResponse:
    """Delete a release; its tag remains."""
    parent = project_context(visit)
    parent.ask(releases_api.delete_release, tag_name=visit.request.path["tag"])
    return LocalRedirect(f"{parent.url}/-/releases")


def _shared_context(parent: ProjectContext) -> dict[str, Any]:
    def render(text: str | None) -> Any:
        return render_markdown(parent.visit, text, parent.project.id)

    return {"html": render, "may_write": parent.may(releases_api.create_release)}


def _release_url(parent: ProjectContext, tag: str) -> str:
    return f"{parent.url}/-/releases/{quote(tag, safe='')}"


def _release_page(
    parent: ProjectContext, typed: dict[str, str] | None = None, errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    release = parent.ask(releases_api.get_release, tag_name=parent.visit.request.path["tag"])
    repository = parent.find(releases_api.list_releases).repository
    context = {
        "release": release,
        "signatures": parent.visit.database.read(lambda db: release_signatures(db, repository, [release])),
        "typed": dict.fromkeys(_ASSET_FIELDS, "") | (typed or {}),
        "errors": errors or [],
        "link_types": _LINK_TYPES,
        **_shared_context(parent),
    }
    return parent.page("code/release.html", "code", context, status)


def _upload(parent: ProjectContext, tag: str, file: Upload, typed: dict[str, str]) -> dict[str, str]:
    """Store a file of the form among the uploads of the project; return the name and the URL of its link.

    Everything that can refuse the link is checked before, so that no file without a link remains.
    """
    if not file.filename:
        raise Invalid("Select a file.")
    if typed["link_type"] and typed["link_type"] not in _LINK_TYPES:
        raise Invalid(link_type=["is invalid"])
    name, visit = typed["name"] or file.filename, parent.visit
    context = parent.find(releases_api.create_release_link, tag_name=tag)
    link = CreateLink(name=name, url=f"{parent.project.web_url}/uploads/new")
    visit.database.read(lambda db: require_may_add_link(db, visit.viewer.actor, context, tag, link))
    uploaded = parent.ask(uploads_api.upload_file, {"file": file})
    return {"name": name, "url": f"{parent.project.web_url}{uploaded.url}"}


def _milestone_params(visit: Visit) -> dict[str, list[str]]:
    """Return the chosen milestones; nothing if the form does not offer any."""
    if "milestones_offered" not in visit.request.form:
        return {}
    return {"milestone_ids": _chosen_milestones(visit)}


def _chosen_milestones(visit: Visit) -> list[str]:
    values = visit.request.form.get("milestone_ids")
    return [value for value in values if isinstance(value, str) and value] if isinstance(values, list) else []


def _with_notes(parent: ProjectContext, typed: dict[str, str], release: ReleaseView | None = None) -> TemplateResponse:
    """Show the form again with generated notes below those that were typed."""
    now = parent.visit.database.clock()
    notes = generated_notes(parent, release.released_at if release else now)
    new = release is None
    if not notes:
        errors = ["No merge requests were merged since the last release."]
        return _release_form(parent, typed, errors, 422, new=new, release=release)
    before = typed["description"].rstrip()
    description = f"{before}\n\n{notes}" if before else notes
    return _release_form(parent, {**typed, "description": description}, new=new, release=release)


def _milestones(parent: ProjectContext, release: ReleaseView | None) -> list[tuple[str, str, bool]]:
    """Return the milestones that can be chosen, those of the release first: id, title and whether it is chosen."""
    chosen = {milestone.id: milestone.title for milestone in release.milestones} if release else {}
    offered = dict(chosen)
    if parent.may(milestones_api.list_project_milestones):
        params = {"state": "active", "per_page": str(_MAX_MILESTONES)}
        listing = parent.ask(milestones_api.list_project_milestones, params)
        offered |= {milestone.id: milestone.title for milestone in listing.items}
    if "milestones_offered" in parent.visit.request.form:
        selected = set(_chosen_milestones(parent.visit))
    else:
        selected = {str(milestone_id) for milestone_id in chosen}
    return [(str(milestone_id), title, str(milestone_id) in selected) for milestone_id, title in offered.items()]


def _release_form(
    parent: ProjectContext,
    typed: dict[str, str],
    errors: list[str] | None = None,
    status: int = 200,
    *,
    new: bool,
    release: ReleaseView | None = None,
) -> TemplateResponse:
    context = {
        "typed": typed,
        "errors": errors or [],
        "new": new,
        "milestones": _milestones(parent, release),
        "may_write": parent.may(releases_api.create_release),
    }
    return parent.page("code/release_form.html", "code", context, status)
