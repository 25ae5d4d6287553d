"""Releases with their notes and downloads."""

from typing import Any
from urllib.parse import quote

from ingot.collaboration.releases import api as releases_api
from ingot.errors import NotFound
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.page_routes import ExternalRedirect, LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.texts import render_markdown

pages = PageRoutes()
_FIELDS = ("tag_name", "ref", "name", "description", "tag_message")


@pages.get("/:path/-/releases", open=True)
def show_releases(visit: Visit) -> PageResponse:
    """List the releases, newest first."""
    place = project_context(visit)
    listing = place.ask(
        releases_api.list_releases, {"page": str(visit.request.query.get("page", "1")), "per_page": "10"}
    )
    context = {"releases": listing, **_shared_context(place)}
    return place.page("code/releases.html", "code", context)


@pages.get("/:path/-/releases/new")
def show_form(visit: Visit) -> PageResponse:
    """Show the form for a new release."""
    place = project_context(visit)
    typed = dict.fromkeys(_FIELDS, "") | {"ref": place.project.default_branch or ""}
    return _release_form(place, typed | {"tag_name": str(visit.request.query.get("tag_name", ""))}, new=True)


@pages.get("/:path/-/releases/permalink/latest", open=True)
def show_latest(visit: Visit) -> PageResponse:
    """Redirect to the latest release."""
    place = project_context(visit)
    return LocalRedirect(
        f"{place.url}/-/releases/{quote(place.ask(releases_api.get_latest_release).tag_name, safe='')}"
    )


@pages.get("/:path/-/releases/:tag", open=True)
def show_release(visit: Visit) -> PageResponse:
    """Show a release."""
    place = project_context(visit)
    release = place.ask(releases_api.get_release, tag_name=visit.request.path["tag"])
    return place.page("code/release.html", "code", {"release": release, **_shared_context(place)})


@pages.get("/:path/-/releases/:tag/edit")
def show_edit(visit: Visit) -> PageResponse:
    """Show the form for editing a release."""
    place = project_context(visit)
    release = place.ask(releases_api.get_release, tag_name=visit.request.path["tag"])
    typed = {"tag_name": release.tag_name, "name": release.name, "description": release.description or ""}
    return _release_form(place, typed, new=False)


@pages.get("/:path/-/releases/:tag/downloads/:rest", open=True, slashes="rest")
def show_download(visit: Visit) -> PageResponse:
    """Redirect to the release asset with this path."""
    place = project_context(visit)
    release = place.ask(releases_api.get_release, tag_name=visit.request.path["tag"])
    wanted = f"/downloads/{quote(visit.request.path['rest'])}", f"/downloads/{visit.request.path['rest']}"
    for link in release.assets.links:
        named = link.direct_asset_url != link.url and link.direct_asset_url.endswith(wanted)
        if named and link.url.startswith(("https://", "http://")):
            return ExternalRedirect(link.url)
    raise NotFound("Link")


@pages.post("/:path/-/releases")
def create_release(visit: Visit) -> PageResponse:
    """Create a release, and its tag if it does not exist."""
    place, typed = project_context(visit), {name: str(visit.request.form.get(name, "")) for name in _FIELDS}
    try:
        release = place.ask(releases_api.create_release, {name: value for name, value in typed.items() if value})
    except RequestRefusal as refusal:
        return _release_form(place, typed, error_messages(refusal), 422, new=True)
    return LocalRedirect(f"{place.url}/-/releases/{quote(release.tag_name, safe='')}")


@pages.put("/:path/-/releases/:tag")
def edit_release(visit: Visit) -> PageResponse:
    """Update a release."""
    place, tag = project_context(visit), visit.request.path["tag"]
    typed = {name: str(visit.request.form.get(name, "")) for name in ("name", "description")}
    try:
        place.ask(releases_api.edit_release, typed, tag_name=tag)
    except RequestRefusal as refusal:
        return _release_form(place, {**typed, "tag_name": tag}, error_messages(refusal), 422, new=False)
    return LocalRedirect(f"{place.url}/-/releases/{quote(tag, safe='')}")


@pages.delete("/:path/-/releases/:tag")
def delete_release(visit: Visit) -> PageResponse:
    """Delete a release; its tag remains."""
    place = project_context(visit)
    place.ask(releases_api.delete_release, tag_name=visit.request.path["tag"])
    return LocalRedirect(f"{place.url}/-/releases")


def _shared_context(place: ProjectContext) -> dict[str, Any]:
    def shown(text: str | None) -> Any:
        return render_markdown(place.visit, text, place.project.id)

    return {"html": shown, "may_write": place.may(releases_api.create_release)}


def _release_form(
    place: ProjectContext, typed: dict[str, str], errors: list[str] | None = None, status: int = 200, *, new: bool
) -> TemplateResponse:
    context = {"typed": typed, "errors": errors or [], "new": new, "may_write": place.may(releases_api.create_release)}
    return place.page("code/release_form.html", "code", context, status)
