"""Endpoints of releases and their links."""

from functools import partial
from urllib.parse import quote

from ingot.collaboration.releases import create, queries, service
from ingot.collaboration.releases.params import (
    CreateLink,
    CreateRelease,
    EditLink,
    EditRelease,
    GetRelease,
    ListGroupReleases,
    ListReleases,
)
from ingot.collaboration.releases.views import (
    ReleaseLinkView,
    ReleaseUrls,
    ReleaseView,
    SimpleReleaseView,
    group_release_views,
    link_view,
    release_views,
    simple_release_view,
)
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, RawResponse, Routes, StagedCall
from ingot.core.db.paging import Listing, Page
from ingot.core.markup.links import LinkContext
from ingot.core.markup.markdown import render
from ingot.core.markup.render_budget import RenderBudget
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.ports import ReferenceLinks
from ingot.repositories.context import RepositoryContext, project_url, repository_in_path
from ingot.repositories.tags import service as tags
from ingot.repositories.tags.policy import may_read_releases, may_write_releases
from ingot.repositories.tags.queries import find_release, release_or_none
from ingot.repositories.tags.tables import Release

routes = Routes("releases")


def _release_urls(call: Call | StagedCall, context: RepositoryContext) -> ReleaseUrls:
    base = call.origin.base
    return ReleaseUrls(base, project_url(call, context.project))


def _release_view(call: Call, context: RepositoryContext, release: Release) -> ReleaseView:
    return release_views(call.db, context, [release], _release_urls(call, context))[0]


def _release_in_path(call: Call, context: RepositoryContext) -> Release:
    return find_release(call.db, context.project.id, call.path["tag_name"])


def _editable_release_in_path(call: Call, context: RepositoryContext) -> Release:
    """Find the release in the path; raise Denied if the caller may not release its tag."""
    release = _release_in_path(call, context)
    tags.require_may_release(call.db, call.actor, context.access, context.project, release.tag)
    return release


@routes.get(
    "/projects/:id/releases",
    on=repository_in_path,
    may=may_read_releases,
    returns=list[ReleaseView],
    open=True,
    job_token=True,
)
def list_releases(call: Call, context: RepositoryContext, params: ListReleases, page: Page) -> Listing[ReleaseView]:
    """List the releases of a project."""
    listing = queries.list_releases(call.db, context.project, params, page)
    views = release_views(call.db, context, listing.items, _release_urls(call, context))
    if params.include_html_description:
        _render_descriptions(call, context, views)
    return listing.of(views)


@routes.get(
    "/groups/:id/releases",
    on=group_in_path,
    may=may_see_group,
    returns=list[ReleaseView | SimpleReleaseView],
    open=True,
    heavy=True,
)
def list_group_releases(
    call: Call, group: Namespace, params: ListGroupReleases, page: Page
) -> Listing[ReleaseView] | Listing[SimpleReleaseView]:
    """List the releases of the projects in a group and its subgroups that the caller may read."""
    listing = queries.list_group_releases(call.db, call.actor, group.id, params, page)
    if params.simple:
        return listing.of([simple_release_view(release, call.db.now) for release in listing.items])
    store, base = repository_store(call.settings), call.origin.base
    return listing.of(group_release_views(call.db, store, listing.items, base))


def _render_descriptions(call: Call, context: RepositoryContext, views: list[ReleaseView]) -> None:
    store, find = repository_store(call.settings), call.db.ports[ReferenceLinks].find
    resolve = partial(find, call.db, call.actor, call.origin.base, context.project, store)
    link_context, budget = LinkContext(call.origin.base, context.project.full_path, positions=True), RenderBudget()
    for view in views:
        view.description_html = render(view.description or "", link_context, resolve, budget)


@routes.get(
    "/projects/:id/releases/permalink/latest",
    on=repository_in_path,
    may=may_read_releases,
    returns=ReleaseView,
    open=True,
    job_token=True,
)
def get_latest_release(call: Call, context: RepositoryContext) -> ReleaseView:
    """Get the latest release."""
    return _release_view(call, context, queries.find_latest_release(call.db, context.project))


@routes.get(
    "/projects/:id/releases/:tag_name",
    on=repository_in_path,
    may=may_read_releases,
    returns=ReleaseView,
    open=True,
    job_token=True,
)
def get_release(call: Call, context: RepositoryContext, params: GetRelease) -> ReleaseView:
    """Get the release of a tag."""
    view = _release_view(call, context, _release_in_path(call, context))
    if params.include_html_description:
        _render_descriptions(call, context, [view])
    return view


@routes.get(
    "/projects/:id/releases/:tag_name/downloads/:direct_asset_path",
    on=repository_in_path,
    may=may_read_releases,
    returns=RawResponse,
    status=302,
    open=True,
    job_token=True,
    slashes="direct_asset_path",
)
def download_release_asset(call: Call, context: RepositoryContext) -> RawResponse:
    """Download a file that a link of a release names by its path: redirect to the URL of the link."""
    return _redirect_to_asset(call, _release_in_path(call, context))


@routes.get(
    "/projects/:id/releases/permalink/latest/downloads/:direct_asset_path",
    on=repository_in_path,
    may=may_read_releases,
    returns=RawResponse,
    status=302,
    open=True,
    job_token=True,
    slashes="direct_asset_path",
)
def download_latest_release_asset(call: Call, context: RepositoryContext) -> RawResponse:
    """Download a file of the latest release: redirect to the URL of the link."""
    return _redirect_to_asset(call, queries.find_latest_release(call.db, context.project))


def _redirect_to_asset(call: Call, release: Release) -> RawResponse:
    link = queries.find_link_by_path(call.db, release, call.path["direct_asset_path"])
    location = quote(link.url, safe="%/:=&?~#+!$,;'@()*[]")
    return RawResponse(b"", headers=((b"location", location.encode()),), status=302)


@routes.post(
    "/projects/:id/releases",
    on=repository_in_path,
    may=may_write_releases,
    returns=ReleaseView,
    staged=True,
    job_token=True,
)
def create_release(stage: StagedCall, context: RepositoryContext, params: CreateRelease) -> ReleaseView:
    """Create a release, and its tag if it does not exist."""
    release = create.create_release(stage.database, stage.actor, context, params)
    urls = _release_urls(stage, context)
    return stage.database.read(lambda db: release_views(db, context, [release], urls)[0])


@routes.put(
    "/projects/:id/releases/:tag_name",
    on=repository_in_path,
    may=may_write_releases,
    returns=ReleaseView,
    job_token=True,
)
def edit_release(call: Call, context: RepositoryContext, params: EditRelease) -> ReleaseView:
    """Edit a release."""
    return _release_view(call, context, service.edit_release(call.db, _editable_release_in_path(call, context), params))


@routes.delete(
    "/projects/:id/releases/:tag_name",
    on=repository_in_path,
    may=may_write_releases,
    returns=ReleaseView,
    job_token=True,
)
def delete_release(call: Call, context: RepositoryContext) -> ReleaseView | None:
    """Delete a release; its tag stays."""
    if release_or_none(call.db, context.project.id, call.path["tag_name"]) is None:
        return None
    release = _editable_release_in_path(call, context)
    view = _release_view(call, context, release)
    tags.delete_release(call.db, release)
    return view


@routes.get(
    "/projects/:id/releases/:tag_name/assets/links",
    on=repository_in_path,
    may=may_read_releases,
    returns=list[ReleaseLinkView],
    open=True,
    job_token=True,
)
def list_release_links(call: Call, context: RepositoryContext, page: Page) -> Listing[ReleaseLinkView]:
    """List the links of a release."""
    release = _release_in_path(call, context)
    listing = queries.list_links(call.db, release, page)
    urls = _release_urls(call, context)
    return listing.of([link_view(link, release, urls) for link in listing.items])


@routes.get(
    "/projects/:id/releases/:tag_name/assets/links/:link_id",
    on=repository_in_path,
    may=may_read_releases,
    returns=ReleaseLinkView,
    open=True,
    job_token=True,
)
def get_release_link(call: Call, context: RepositoryContext) -> ReleaseLinkView:
    """Get a link of a release."""
    release = _release_in_path(call, context)
    link = queries.find_link(call.db, release, path_number(call.path, "link_id"))
    return link_view(link, release, _release_urls(call, context))


@routes.post(
    "/projects/:id/releases/:tag_name/assets/links",
    on=repository_in_path,
    may=may_write_releases,
    returns=ReleaseLinkView,
    job_token=True,
)
def create_release_link(call: Call, context: RepositoryContext, params: CreateLink) -> ReleaseLinkView:
    """Add a link to a release."""
    release = _editable_release_in_path(call, context)
    return link_view(service.create_link(call.db, release, params), release, _release_urls(call, context))


@routes.put(
    "/projects/:id/releases/:tag_name/assets/links/:link_id",
    on=repository_in_path,
    may=may_write_releases,
    returns=ReleaseLinkView,
    job_token=True,
)
def edit_release_link(call: Call, context: RepositoryContext, params: EditLink) -> ReleaseLinkView:
    """Edit a link of a release."""
    release = _editable_release_in_path(call, context)
    link = queries.find_link(call.db, release, path_number(call.path, "link_id"))
    return link_view(service.edit_link(call.db, release, link, params), release, _release_urls(call, context))


@routes.delete(
    "/projects/:id/releases/:tag_name/assets/links/:link_id",
    on=repository_in_path,
    may=may_write_releases,
    returns=ReleaseLinkView,
    job_token=True,
)
def delete_release_link(call: Call, context: RepositoryContext) -> ReleaseLinkView | None:
    """Delete a link of a release."""
    release = _editable_release_in_path(call, context)
    link = queries.link_or_none(call.db, release, path_number(call.path, "link_id"))
    if link is None:
        return None
    service.delete_link(call.db, link)
    return link_view(link, release, _release_urls(call, context))
