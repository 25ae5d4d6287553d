"""Tag pages: list, show, create and delete, with release notes."""

from typing import Any
from urllib.parse import quote

from ingot.core.db.connection import Connection
from ingot.repositories.protection import api as protection_api
from ingot.repositories.tags import api as tags_api
from ingot.web.code.pipelines import pipeline_outcomes
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.texts import render_markdown

pages = PageRoutes()
_ORDERS = {"updated": "Newest first", "version": "Version", "name": "Name"}
_FIELDS = ("tag_name", "ref", "message", "release_description")


@pages.get("/:path/-/tags", open=True)
def show_tags(visit: Visit, db: Connection) -> PageResponse:
    """List the tags with their commits."""
    place = project_context(visit)
    order = text_field(visit.request.query, "order_by")
    order = order if order in _ORDERS else "updated"
    search = text_field(visit.request.query, "search")
    asked = {"search": search, "order_by": order, "page": str(visit.request.query.get("page", "1")), "per_page": "30"}
    tags = place.ask(tags_api.list_tags, asked)
    context: dict[str, Any] = {
        "tags": tags,
        "outcomes": pipeline_outcomes(place, db, [tag.commit for tag in tags.items if tag.commit]),
        "may_delete": _may_delete(place),
        "search": search,
        "order": order,
        "orders": _ORDERS,
        "may_write": place.may(tags_api.create_tag),
    }
    return place.page("code/tags.html", "code", context)


@pages.get("/:path/-/tags/new")
def show_form(visit: Visit) -> PageResponse:
    """Show the form for a new tag."""
    place = project_context(visit)
    ref = str(visit.request.query.get("ref", place.project.default_branch or ""))
    return _tag_form(place, dict.fromkeys(_FIELDS, "") | {"ref": ref})


@pages.get("/:path/-/tags/:name", open=True, slashes="name")
def show_tag(visit: Visit) -> PageResponse:
    """Show a tag with its message and release notes."""
    return _tag_page(project_context(visit))


@pages.post("/:path/-/tags")
def create_tag(visit: Visit) -> PageResponse:
    """Create a tag and show it."""
    place = project_context(visit)
    typed = {name: str(visit.request.form.get(name, "")) for name in _FIELDS}
    try:
        tag = place.ask(tags_api.create_tag, {name: value for name, value in typed.items() if value})
    except RequestRefusal as refusal:
        return _tag_form(place, typed, error_messages(refusal), 422)
    return LocalRedirect(f"{place.url}/-/tags/{quote(tag.name)}")


@pages.post("/:path/-/tags/:name", slashes="name")
def update_release_notes(visit: Visit) -> PageResponse:
    """Create or update the release notes of a tag."""
    place, name = project_context(visit), visit.request.path["name"]
    text = str(visit.request.form.get("description", ""))
    told = place.ask(tags_api.get_tag, tag_name=name).release is not None
    try:
        place.ask(
            tags_api.edit_release_of_tag if told else tags_api.add_release_to_tag, {"description": text}, tag_name=name
        )
    except RequestRefusal as refusal:
        return _tag_page(place, text, error_messages(refusal), 422)
    return LocalRedirect(f"{place.url}/-/tags/{quote(name)}")


@pages.delete("/:path/-/tags/:name", slashes="name")
def delete_tag(visit: Visit) -> PageResponse:
    """Delete a tag and its release."""
    place, name = project_context(visit), visit.request.path["name"]
    try:
        place.ask(tags_api.delete_tag, tag_name=name)
    except RequestRefusal as refusal:
        return _tag_page(place, errors=error_messages(refusal), status=422)
    return LocalRedirect(f"{place.url}/-/tags")


def _tag_page(
    place: ProjectContext, typed: str | None = None, errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    tag = place.ask(tags_api.get_tag, tag_name=place.visit.request.path["name"])
    told = tag.release.description if tag.release else ""
    context: dict[str, Any] = {
        "tag": tag,
        "notes": render_markdown(place.visit, told, place.project.id),
        "typed": told if typed is None else typed,
        "errors": errors or [],
        "may_write": place.may(tags_api.create_tag),
        "may_delete": _may_delete(place),
    }
    return place.page("code/tag.html", "code", context, status)


def _may_delete(place: ProjectContext) -> bool:
    """Return whether the user may delete tags; protected tags cannot be deleted here."""
    return place.may(tags_api.create_tag) and place.may(protection_api.list_protected_tags)


def _tag_form(
    place: ProjectContext, typed: dict[str, str], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    context = {"typed": typed, "errors": errors or [], "may_write": place.may(tags_api.create_tag)}
    return place.page("code/tag_new.html", "code", context, status)
