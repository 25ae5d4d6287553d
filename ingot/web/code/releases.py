"""Releases with their notes and downloads."""

from typing import Any
from urllib.parse import quote

from ingot.collaboration.releases import api as releases_api
from ingot.core.errors import NotFound
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import ExternalRedirect, LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.request_auth import token_visit
from ingot.web.texts import render_markdown

pages = PageRoutes()
_FIELDS = ("tag_name", "ref", "name", "description", "tag_message")


@pages.get("/:path/-/releases", open=True)
def show_releases(visit: Visit) -> PageResponse:
    """List the releases, newest first."""
    parent = project_context(visit)
    listing = parent.ask(
        releases_api.list_releases, {"page": str(visit.request.query.get("page", "1")), "per_page": "10"}
    )
    context = {"releases": listing, **_shared_context(parent)}
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
    parent = project_context(visit)
    release = parent.ask(releases_api.get_release, tag_name=visit.request.path["tag"])
    return parent.page("code/release.html", "code", {"release": release, **_shared_context(parent)})


@pages.get("/:path/-/releases/:tag/edit")
def show_edit(visit: Visit) -> PageResponse:
    """Show the form for editing a release."""
    parent = project_context(visit)
    release = parent.ask(releases_api.get_release, tag_name=visit.request.path["tag"])
    typed = {"tag_name": release.tag_name, "name": release.name, "description": release.description or ""}
    return _release_form(parent, typed, new=False)


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
    """Create a release, and its tag if it does not exist."""
    parent, typed = project_context(visit), {name: str(visit.request.form.get(name, "")) for name in _FIELDS}
    try:
        release = parent.ask(releases_api.create_release, {name: value for name, value in typed.items() if value})
    except REQUEST_ERRORS as error:
        return _release_form(parent, typed, error_messages(error), 422, new=True)
    return LocalRedirect(f"{parent.url}/-/releases/{quote(release.tag_name, safe='')}")


@pages.put("/:path/-/releases/:tag", notice="Release saved.")
def edit_release(visit: Visit) -> PageResponse:
    """Update a release."""
    parent, tag = project_context(visit), visit.request.path["tag"]
    typed = {name: str(visit.request.form.get(name, "")) for name in ("name", "description")}
    try:
        parent.ask(releases_api.edit_release, typed, tag_name=tag)
    except REQUEST_ERRORS as error:
        return _release_form(parent, {**typed, "tag_name": tag}, error_messages(error), 422, new=False)
    return LocalRedirect(f"{parent.url}/-/releases/{quote(tag, safe='')}")


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


def _release_form(
    parent: ProjectContext, typed: dict[str, str], errors: list[str] | None = None, status: int = 200, *, new: bool
) -> TemplateResponse:
    context = {"typed": typed, "errors": errors or [], "new": new, "may_write": parent.may(releases_api.create_release)}
    return parent.page("code/release_form.html", "code", context, status)
