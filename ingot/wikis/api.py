"""Wikis over the API."""

from collections.abc import Sequence
from contextlib import suppress

from ingot.access.levels import Access
from ingot.api.params import Missing, given
from ingot.api.routes import Call, Routes, Stage
from ingot.db.paging import Listing, Page, cut_page
from ingot.errors import NotFound
from ingot.events.bus import emit
from ingot.git.repository import Repository
from ingot.markup.links import Link, Resolve
from ingot.markup.references import Reference
from ingot.projects.api import store_of
from ingot.projects.events import LinksAsked
from ingot.wikis import policy, queries, work
from ingot.wikis.params import AttachFile, CreatePage, EditPage, GetPage, ListPages
from ingot.wikis.policy import Place
from ingot.wikis.views import AttachmentView, PageView, attachment_view, page_view, rendered

routes = Routes("wikis")


def wiki_in_path(call: Call) -> tuple[Access, Place]:
    """The wiki of the project that the path names."""
    place = queries.find_wiki(call.db, call.actor, store_of(call.settings), call.path["id"])
    return place.here, place


def _wiki(stage: Stage, place: Place) -> Repository:
    return place.repository or work.ensure_wiki(stage.database, store_of(stage.settings), place.project)


@routes.get("/projects/:id/wikis", on=wiki_in_path, may=policy.may_read_wiki, returns=list[PageView])
def list_pages(call: Call, place: Place, params: ListPages, page: Page) -> Listing[PageView]:  # noqa: ARG001 - Every handler gets its call.
    """List the pages of a project's wiki."""
    found = cut_page(queries.list_pages(place.repository), page)
    if not params.with_content:
        return found.of([page_view(each) for each in found.items])
    contents = queries.contents_of(place.repository, found.items)
    return found.of([page_view(each, content) for each, content in zip(found.items, contents, strict=True)])


@routes.get("/projects/:id/wikis/:slug", on=wiki_in_path, may=policy.may_read_wiki, returns=PageView)
def get_page(call: Call, place: Place, params: GetPage) -> PageView:
    """Get a page of a project's wiki."""
    found = queries.find_page(place.repository, call.path["slug"], params.version)
    (content,) = queries.contents_of(place.repository, [found])
    if params.render_html:
        content = rendered(found, content, call.origin.base, place.project.full_path, _resolving(call, place))
    return page_view(found, content)


def _resolving(call: Call, place: Place) -> Resolve:
    """What is referred to lies in rooms above: who knows them all answers, for this reader."""

    def resolve(references: Sequence[Reference]) -> list[Link | None]:
        found: list[Link | None] = []
        store = store_of(call.settings)
        emit(call.db, LinksAsked(call.actor, place.project, call.origin.base, store, references, found))
        return found or [None] * len(references)

    return resolve


@routes.post("/projects/:id/wikis", on=wiki_in_path, may=policy.may_write_wiki, returns=PageView, staged=True)
def create_page(stage: Stage, place: Place, params: CreatePage) -> PageView:
    """Create a page of a project's wiki."""
    made = work.create_page(stage.database, stage.actor, _wiki(stage, place), place.project, params)
    return page_view(made, params.content)


@routes.put("/projects/:id/wikis/:slug", on=wiki_in_path, may=policy.may_write_wiki, returns=PageView, staged=True)
def edit_page(stage: Stage, place: Place, params: EditPage) -> PageView:
    """Edit a page of a project's wiki."""
    if not given(params, "message"):
        raise Missing("content")
    found = queries.find_page(place.repository, stage.path["slug"])
    repository = _wiki(stage, place)
    edited = work.edit_page(stage.database, stage.actor, repository, place.project, found.slug, params)
    return page_view(edited, queries.contents_of(repository, [edited])[0])


@routes.delete("/projects/:id/wikis/:slug", on=wiki_in_path, may=policy.may_delete_page, returns=None, staged=True)
def delete_page(stage: Stage, place: Place) -> None:
    """Delete a page of a project's wiki."""
    with suppress(NotFound):  # It is gone already.
        found = queries.find_page(place.repository, stage.path["slug"])
        work.delete_page(stage.database, stage.actor, _wiki(stage, place), place.project, found.slug)


@routes.post(
    "/projects/:id/wikis/attachments",
    on=wiki_in_path,
    may=policy.may_write_wiki,
    returns=AttachmentView,
    staged=True,
)
def attach_file(stage: Stage, place: Place, params: AttachFile) -> AttachmentView:
    """Add a file to a project's wiki, to mention it in pages."""
    repository = _wiki(stage, place)
    path = work.attach_file(
        stage.database, stage.actor, repository, place.project, params.file.filename, params.file.read()
    )
    return attachment_view(path, repository.head_branch())
