"""Tag pages: list, show, create and delete, with release notes."""

from functools import partial
from typing import Any
from urllib.parse import quote

from ingot.collaboration.releases import api as releases_api
from ingot.core.db.connection import Connection
from ingot.repositories.commits.signature_lists import tag_badges
from ingot.repositories.commits.views import SignatureView
from ingot.repositories.protection import api as protection_api
from ingot.repositories.tags import api as tags_api
from ingot.web.ci.outcomes import pipeline_outcomes
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.texts import render_markdown

pages = PageRoutes()
_ORDERS = {"updated": "Newest first", "version": "Version", "name": "Name"}
_FIELDS = ("tag_name", "ref", "message", "release_description")


@pages.get("/:path/-/tags", open=True)
def show_tags(visit: Visit, db: Connection) -> PageResponse:
    """List the tags with their commits."""
    parent = project_context(visit)
    order = text_field(visit.request.query, "order_by")
    order = order if order in _ORDERS else "updated"
    search = text_field(visit.request.query, "search")
    params = {"search": search, "order_by": order, "page": str(visit.request.query.get("page", "1")), "per_page": "30"}
    tags = parent.ask(tags_api.list_tags, params)
    repository = parent.find(tags_api.list_tags).repository
    context: dict[str, Any] = {
        "tags": tags,
        "signatures": tag_badges(db, repository, [tag.target for tag in tags.items if tag.message]),
        "outcomes": pipeline_outcomes(parent, db, [tag.commit for tag in tags.items if tag.commit]),
        "may_delete": _may_delete(parent),
        "search": search,
        "order": order,
        "orders": _ORDERS,
        "may_write": parent.may(tags_api.create_tag),
        "has_releases": parent.may(releases_api.list_releases),
    }
    return parent.page("code/tags.html", "code", context)


@pages.get("/:path/-/tags/new")
def show_form(visit: Visit) -> PageResponse:
    """Show the form for a new tag."""
    parent = project_context(visit)
    ref = str(visit.request.query.get("ref", parent.project.default_branch or ""))
    return _tag_form(parent, dict.fromkeys(_FIELDS, "") | {"ref": ref})


@pages.get("/:path/-/tags/:name", open=True, slashes="name")
def show_tag(visit: Visit) -> PageResponse:
    """Show a tag with its message and release notes."""
    return _tag_page(project_context(visit))


@pages.post("/:path/-/tags", notice="Tag created.")
def create_tag(visit: Visit) -> PageResponse:
    """Create a tag and show it."""
    parent = project_context(visit)
    typed = {name: str(visit.request.form.get(name, "")) for name in _FIELDS}
    try:
        tag = parent.ask(tags_api.create_tag, {name: value for name, value in typed.items() if value})
    except REQUEST_ERRORS as error:
        return _tag_form(parent, typed, error_messages(error), 422)
    return LocalRedirect(f"{parent.url}/-/tags/{quote(tag.name)}")


@pages.post("/:path/-/tags/:name", notice="Release notes saved.", slashes="name")
def update_release_notes(visit: Visit) -> PageResponse:
    """Create or update the release notes of a tag."""
    parent, name = project_context(visit), visit.request.path["name"]
    text = str(visit.request.form.get("description", ""))
    has_release = parent.ask(tags_api.get_tag, tag_name=name).release is not None
    try:
        parent.ask(
            tags_api.edit_release_of_tag if has_release else tags_api.add_release_to_tag,
            {"description": text},
            tag_name=name,
        )
    except REQUEST_ERRORS as error:
        return _tag_page(parent, text, error_messages(error), 422)
    return LocalRedirect(f"{parent.url}/-/tags/{quote(name)}")


@pages.delete("/:path/-/tags/:name", notice="Tag deleted.", slashes="name")
def delete_tag(visit: Visit) -> PageResponse:
    """Delete a tag and its release."""
    parent, name = project_context(visit), visit.request.path["name"]
    try:
        parent.ask(tags_api.delete_tag, tag_name=name)
    except REQUEST_ERRORS as error:
        return _tag_page(parent, errors=error_messages(error), status=422)
    return LocalRedirect(f"{parent.url}/-/tags")


def _tag_page(
    parent: ProjectContext, typed: str | None = None, errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    tag = parent.ask(tags_api.get_tag, tag_name=parent.visit.request.path["name"])
    repository = parent.find(tags_api.list_tags).repository
    release_notes = tag.release.description if tag.release else ""
    context: dict[str, Any] = {
        "tag": tag,
        "signature": parent.visit.database.read(partial(_tag_badge, repository, tag.target)),
        "notes": render_markdown(parent.visit, release_notes, parent.project.id),
        "typed": release_notes if typed is None else typed,
        "errors": errors or [],
        "may_write": parent.may(tags_api.create_tag),
        "has_releases": parent.may(releases_api.list_releases),
        "may_delete": _may_delete(parent),
    }
    return parent.page("code/tag.html", "code", context, status)


def _tag_badge(repository: Any, target: str, db: Connection) -> SignatureView | None:
    return tag_badges(db, repository, [target]).get(target)


def _may_delete(parent: ProjectContext) -> bool:
    """Return whether the user may delete tags; protected tags cannot be deleted here."""
    return parent.may(tags_api.create_tag) and parent.may(protection_api.list_protected_tags)


def _tag_form(
    parent: ProjectContext, typed: dict[str, str], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    context = {
        "typed": typed,
        "errors": errors or [],
        "may_write": parent.may(tags_api.create_tag),
        "has_releases": parent.may(releases_api.list_releases),
    }
    return parent.page("code/tag_new.html", "code", context, status)
