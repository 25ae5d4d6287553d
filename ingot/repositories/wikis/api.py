"""Wikis over the API."""

from collections.abc import Sequence
from contextlib import suppress

from ingot.core.access.levels import Access
from ingot.core.api.params import MissingParameter, given_fields
from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.markup.links import Link, ReferenceResolver
from ingot.core.markup.references import Reference
from ingot.errors import NotFound
from ingot.git.core.repository import Repository
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.ports import ReferenceLinks
from ingot.repositories.wikis import policy, queries, staged
from ingot.repositories.wikis.params import AttachFile, CreatePage, EditPage, GetPage, ListPages
from ingot.repositories.wikis.policy import WikiContext
from ingot.repositories.wikis.views import AttachmentView, WikiPageView, attachment_view, page_view, render_page

routes = Routes("wikis")


def wiki_in_path(call: Call) -> tuple[Access, WikiContext]:
    """The wiki of the project that the path names."""
    place = queries.find_wiki(call.db, call.actor, repository_store(call.settings), call.path["id"])
    return place.here, place


def _ensure_wiki_repository(stage: StagedCall, context: WikiContext) -> Repository:
    return context.repository or staged.ensure_wiki(stage.database, repository_store(stage.settings), context.project)


@routes.get("/projects/:id/wikis", on=wiki_in_path, may=policy.may_read_wiki, returns=list[WikiPageView])
def list_pages(call: Call, context: WikiContext, params: ListPages, page: Page) -> Listing[WikiPageView]:  # noqa: ARG001 - Every handler gets its call.
    """List the pages of a project's wiki."""
    found = slice_page(queries.list_pages(context.repository), page)
    if not params.with_content:
        return found.of([page_view(each) for each in found.items])
    contents = queries.page_contents(context.repository, found.items)
    return found.of([page_view(each, content) for each, content in zip(found.items, contents, strict=True)])


@routes.get("/projects/:id/wikis/:slug", on=wiki_in_path, may=policy.may_read_wiki, returns=WikiPageView)
def get_page(call: Call, context: WikiContext, params: GetPage) -> WikiPageView:
    """Get a page of a project's wiki."""
    found = queries.find_page(context.repository, call.path["slug"], params.version)
    (content,) = queries.page_contents(context.repository, [found])
    if params.render_html:
        content = render_page(
            found, content, call.origin.base, context.project.full_path, _link_resolver(call, context)
        )
    return page_view(found, content)


def _link_resolver(call: Call, context: WikiContext) -> ReferenceResolver:
    """Return a function that finds the links of references in the wiki, for this reader."""

    def resolve(references: Sequence[Reference]) -> list[Link | None]:
        store = repository_store(call.settings)
        find = call.db.ports[ReferenceLinks].find
        return find(call.db, call.actor, call.origin.base, context.project, store, references)

    return resolve


@routes.post("/projects/:id/wikis", on=wiki_in_path, may=policy.may_write_wiki, returns=WikiPageView, staged=True)
def create_page(stage: StagedCall, context: WikiContext, params: CreatePage) -> WikiPageView:
    """Create a page of a project's wiki."""
    made = staged.create_page(
        stage.database, stage.actor, _ensure_wiki_repository(stage, context), context.project, params
    )
    return page_view(made, params.content)


@routes.put("/projects/:id/wikis/:slug", on=wiki_in_path, may=policy.may_write_wiki, returns=WikiPageView, staged=True)
def edit_page(stage: StagedCall, context: WikiContext, params: EditPage) -> WikiPageView:
    """Edit a page of a project's wiki."""
    if not given_fields(params, "message"):
        raise MissingParameter("content")
    found = queries.find_page(context.repository, stage.path["slug"])
    repository = _ensure_wiki_repository(stage, context)
    edited = staged.edit_page(stage.database, stage.actor, repository, context.project, found.slug, params)
    return page_view(edited, queries.page_contents(repository, [edited])[0])


@routes.delete("/projects/:id/wikis/:slug", on=wiki_in_path, may=policy.may_delete_page, returns=None, staged=True)
def delete_page(stage: StagedCall, context: WikiContext) -> None:
    """Delete a page of a project's wiki."""
    with suppress(NotFound):  # It is gone already.
        found = queries.find_page(context.repository, stage.path["slug"])
        staged.delete_page(
            stage.database, stage.actor, _ensure_wiki_repository(stage, context), context.project, found.slug
        )


@routes.post(
    "/projects/:id/wikis/attachments",
    on=wiki_in_path,
    may=policy.may_write_wiki,
    returns=AttachmentView,
    staged=True,
)
def attach_file(stage: StagedCall, context: WikiContext, params: AttachFile) -> AttachmentView:
    """Add a file to a project's wiki, to mention it in pages."""
    repository = _ensure_wiki_repository(stage, context)
    path = staged.attach_file(
        stage.database, stage.actor, repository, context.project, params.file.filename, params.file.read()
    )
    return attachment_view(path, repository.head_branch())
