"""Releases over the API."""

from ingot.api.door import PREFIX
from ingot.api.params import path_number
from ingot.api.routes import Call, Routes, Stage
from ingot.db.paging import Listing, Page
from ingot.projects.views import addresses_of
from ingot.releases import queries, service, work
from ingot.releases.params import CreateLink, CreateRelease, EditLink, EditRelease, ListReleases
from ingot.releases.views import Addresses, ReleaseLinkView, ReleaseView, link_view, release_views
from ingot.repository.place import Place, may_push_code, may_read_code, place_in_path, project_url
from ingot.repository.tags import service as tags
from ingot.repository.tags.queries import find_release, release_or_none
from ingot.repository.tags.tables import Release

routes = Routes("releases")


def _addresses(call: Call | Stage, place: Place) -> Addresses:
    base = addresses_of(call.origin, call.settings).base
    return Addresses(base, project_url(call, place.project), f"{base}{PREFIX.decode()}/projects/{place.project.id}")


def _shown(call: Call, place: Place, release: Release) -> ReleaseView:
    return release_views(call.db, place, [release], _addresses(call, place))[0]


def _in_path(call: Call, place: Place) -> Release:
    return find_release(call.db, place.project.id, call.path["tag_name"])


def _to_change(call: Call, place: Place) -> Release:
    """The release in the path, where the caller may tell about its tag."""
    release = _in_path(call, place)
    tags.require_release(call.db, call.actor, place.here, place.project, release.tag)
    return release


@routes.get("/projects/:id/releases", on=place_in_path, may=may_read_code, returns=list[ReleaseView], open=True)
def list_releases(call: Call, place: Place, params: ListReleases, page: Page) -> Listing[ReleaseView]:
    """List the releases of a project."""
    found = queries.list_releases(call.db, place.project, params, page)
    return found.of(release_views(call.db, place, found.items, _addresses(call, place)))


@routes.get(
    "/projects/:id/releases/permalink/latest", on=place_in_path, may=may_read_code, returns=ReleaseView, open=True
)
def get_latest_release(call: Call, place: Place) -> ReleaseView:
    """Get the release that came out last."""
    return _shown(call, place, queries.latest_release(call.db, place.project))


@routes.get("/projects/:id/releases/:tag_name", on=place_in_path, may=may_read_code, returns=ReleaseView, open=True)
def get_release(call: Call, place: Place) -> ReleaseView:
    """Get the release of a tag."""
    return _shown(call, place, _in_path(call, place))


@routes.post("/projects/:id/releases", on=place_in_path, may=may_push_code, returns=ReleaseView, staged=True)
def create_release(stage: Stage, place: Place, params: CreateRelease) -> ReleaseView:
    """Create a release, and its tag where there is none yet."""
    release = work.create_release(stage.database, stage.actor, place, params)
    at = _addresses(stage, place)
    return stage.database.read(lambda db: release_views(db, place, [release], at)[0])


@routes.put("/projects/:id/releases/:tag_name", on=place_in_path, may=may_push_code, returns=ReleaseView)
def edit_release(call: Call, place: Place, params: EditRelease) -> ReleaseView:
    """Edit a release."""
    return _shown(call, place, service.edit_release(call.db, _to_change(call, place), params))


@routes.delete("/projects/:id/releases/:tag_name", on=place_in_path, may=may_push_code, returns=ReleaseView)
def delete_release(call: Call, place: Place) -> ReleaseView | None:
    """Delete a release; its tag stays."""
    if release_or_none(call.db, place.project.id, call.path["tag_name"]) is None:
        return None
    release = _to_change(call, place)
    view = _shown(call, place, release)
    tags.delete_release(call.db, release)
    return view


@routes.get(
    "/projects/:id/releases/:tag_name/assets/links",
    on=place_in_path,
    may=may_read_code,
    returns=list[ReleaseLinkView],
    open=True,
)
def list_release_links(call: Call, place: Place, page: Page) -> Listing[ReleaseLinkView]:
    """List the links of a release."""
    release = _in_path(call, place)
    found = queries.list_links(call.db, release, page)
    at = _addresses(call, place)
    return found.of([link_view(link, release, at) for link in found.items])


@routes.get(
    "/projects/:id/releases/:tag_name/assets/links/:link_id",
    on=place_in_path,
    may=may_read_code,
    returns=ReleaseLinkView,
    open=True,
)
def get_release_link(call: Call, place: Place) -> ReleaseLinkView:
    """Get a link of a release."""
    release = _in_path(call, place)
    link = queries.find_link(call.db, release, path_number(call.path, "link_id"))
    return link_view(link, release, _addresses(call, place))


@routes.post(
    "/projects/:id/releases/:tag_name/assets/links", on=place_in_path, may=may_push_code, returns=ReleaseLinkView
)
def create_release_link(call: Call, place: Place, params: CreateLink) -> ReleaseLinkView:
    """Add a link to a release."""
    release = _to_change(call, place)
    return link_view(service.create_link(call.db, release, params), release, _addresses(call, place))


@routes.put(
    "/projects/:id/releases/:tag_name/assets/links/:link_id",
    on=place_in_path,
    may=may_push_code,
    returns=ReleaseLinkView,
)
def edit_release_link(call: Call, place: Place, params: EditLink) -> ReleaseLinkView:
    """Edit a link of a release."""
    release = _to_change(call, place)
    link = queries.find_link(call.db, release, path_number(call.path, "link_id"))
    return link_view(service.edit_link(call.db, release, link, params), release, _addresses(call, place))


@routes.delete(
    "/projects/:id/releases/:tag_name/assets/links/:link_id",
    on=place_in_path,
    may=may_push_code,
    returns=ReleaseLinkView,
)
def delete_release_link(call: Call, place: Place) -> ReleaseLinkView | None:
    """Remove a link of a release."""
    release = _to_change(call, place)
    link = queries.link_or_none(call.db, release, path_number(call.path, "link_id"))
    if link is None:
        return None
    service.delete_link(call.db, link)
    return link_view(link, release, _addresses(call, place))
