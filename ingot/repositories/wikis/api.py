"""Endpoints of wikis."""

from collections.abc import Sequence
from contextlib import suppress

from ingot.core.access.levels import Access
from ingot.core.api.params import MissingParameter, given_fields
from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.errors import NotFound
from ingot.core.markup.links import Link, ReferenceResolver
from ingot.core.markup.references import Reference
from ingot.git.core.repository import Repository
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.ports import ReferenceLinks
from ingot.projects.projects.tables import Project
from ingot.repositories.wikis import edit, policy, queries
from ingot.repositories.wikis.params import AttachFile, CreatePage, EditPage, GetPage, ListPages
from ingot.repositories.wikis.policy import WikiContext
from ingot.repositories.wikis.views import (
    AttachmentView,
    WikiPageView,
    attachment_view,
    page_view,
    render_page,
    wiki_root,
)

routes = Routes("wikis")


def wiki_in_path(call: Call) -> tuple[Access, WikiContext]:
    """Find the wiki of the project in the path."""
    context = queries.find_wiki(call.db, call.actor, repository_store(call.settings), call.path["id"])
    return context.access, context


def group_wiki_in_path(call: Call) -> tuple[Access, WikiContext]:
    """Find the wiki of the group in the path."""
    context = queries.find_wiki(call.db, call.actor, repository_store(call.settings), call.path["id"], "group")
    return context.access, context


def _ensure_wiki_repository(stage: StagedCall, context: WikiContext) -> Repository:
    return context.repository or edit.ensure_wiki(stage.database, repository_store(stage.settings), context.owner)


@routes.get("/groups/:id/wikis", on=group_wiki_in_path, may=policy.may_read_wiki, returns=list[WikiPageView])
@routes.get("/projects/:id/wikis", on=wiki_in_path, may=policy.may_read_wiki, returns=list[WikiPageView])
def list_pages(call: Call, context: WikiContext, params: ListPages, page: Page) -> Listing[WikiPageView]:  # noqa: ARG001 - The kernel passes the call to every handler.
    """List the pages of a wiki."""
    listing = slice_page(queries.list_pages(context.repository), page)
    if not params.with_content:
        return listing.of([page_view(each) for each in listing.items])
    contents = queries.page_contents(context.repository, listing.items)
    return listing.of([page_view(each, content) for each, content in zip(listing.items, contents, strict=True)])


@routes.get("/groups/:id/wikis/:slug", on=group_wiki_in_path, may=policy.may_read_wiki, returns=WikiPageView)
@routes.get("/projects/:id/wikis/:slug", on=wiki_in_path, may=policy.may_read_wiki, returns=WikiPageView)
def get_page(call: Call, context: WikiContext, params: GetPage) -> WikiPageView:
    """Get a page of a wiki."""
    wiki_page = queries.find_page(context.repository, call.path["slug"], params.version)
    (content,) = queries.page_contents(context.repository, [wiki_page])
    if params.render_html:
        content = render_page(
            wiki_page, content, call.origin.base, wiki_root(context.owner), _link_resolver(call, context)
        )
    return page_view(wiki_page, content)


def _link_resolver(call: Call, context: WikiContext) -> ReferenceResolver:
    """Return a resolver of references in a page for this reader."""

    def resolve(references: Sequence[Reference]) -> list[Link | None]:
        store = repository_store(call.settings)
        find = call.db.ports[ReferenceLinks].find
        project = context.owner if isinstance(context.owner, Project) else None
        return find(call.db, call.actor, call.origin.base, project, store, references)

    return resolve


@routes.post("/groups/:id/wikis", on=group_wiki_in_path, may=policy.may_write_wiki, returns=WikiPageView, staged=True)
@routes.post("/projects/:id/wikis", on=wiki_in_path, may=policy.may_write_wiki, returns=WikiPageView, staged=True)
def create_page(stage: StagedCall, context: WikiContext, params: CreatePage) -> WikiPageView:
    """Create a page of a wiki."""
    created = edit.create_page(
        stage.database, stage.actor, _ensure_wiki_repository(stage, context), context.owner, params
    )
    return page_view(created, params.content)


@routes.put(
    "/groups/:id/wikis/:slug", on=group_wiki_in_path, may=policy.may_write_wiki, returns=WikiPageView, staged=True
)
@routes.put("/projects/:id/wikis/:slug", on=wiki_in_path, may=policy.may_write_wiki, returns=WikiPageView, staged=True)
def edit_page(stage: StagedCall, context: WikiContext, params: EditPage) -> WikiPageView:
    """Edit a page of a wiki."""
    if not given_fields(params, "message"):
        raise MissingParameter("content")
    current = queries.find_page(context.repository, stage.path["slug"])
    repository = _ensure_wiki_repository(stage, context)
    edited = edit.edit_page(stage.database, stage.actor, repository, context.owner, current.slug, params)
    return page_view(edited, queries.page_contents(repository, [edited])[0])


@routes.delete("/groups/:id/wikis/:slug", on=group_wiki_in_path, may=policy.may_delete_page, returns=None, staged=True)
@routes.delete("/projects/:id/wikis/:slug", on=wiki_in_path, may=policy.may_delete_page, returns=None, staged=True)
def delete_page(stage: StagedCall, context: WikiContext) -> None:
    """Delete a page of a wiki."""
    with suppress(NotFound):  # A deleted page is not an error.
        current = queries.find_page(context.repository, stage.path["slug"])
        edit.delete_page(
            stage.database, stage.actor, _ensure_wiki_repository(stage, context), context.owner, current.slug
        )


@routes.post(
    "/groups/:id/wikis/attachments",
    on=group_wiki_in_path,
    may=policy.may_write_wiki,
    returns=AttachmentView,
    staged=True,
)
@routes.post(
    "/projects/:id/wikis/attachments",
    on=wiki_in_path,
    may=policy.may_write_wiki,
    returns=AttachmentView,
    staged=True,
)
def attach_file(stage: StagedCall, context: WikiContext, params: AttachFile) -> AttachmentView:
    """Upload an attachment to a wiki."""
    repository = _ensure_wiki_repository(stage, context)
    path = edit.attach_file(
        stage.database, stage.actor, repository, context.owner, params.file.filename, params.file.read()
    )
    return attachment_view(path, repository.head_branch())
