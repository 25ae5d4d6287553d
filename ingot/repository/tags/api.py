"""Tags over the API."""

from functools import partial

from ingot.api.routes import Call, Routes, Stage
from ingot.db.paging import Listing, Page
from ingot.errors import NotFound
from ingot.git.tagging import tag_or_none
from ingot.repository.place import Place, may_push_code, may_read_code, place_in_path, project_url
from ingot.repository.tags import queries, service, work
from ingot.repository.tags.params import CreateTag, DescribeRelease, ListTags
from ingot.repository.tags.views import TagReleaseView, TagView, tag_release_view, tag_views

routes = Routes("tags")


@routes.get("/projects/:id/repository/tags", on=place_in_path, may=may_read_code, returns=list[TagView], open=True)
def list_tags(call: Call, place: Place, params: ListTags, page: Page) -> Listing[TagView]:
    """List the tags of a repository."""
    found = queries.list_tags(place.repository, place.project, params, page)
    return found.of(tag_views(call.db, place, found.items, project_url(call, place.project)))


@routes.get(
    "/projects/:id/repository/tags/:tag_name",
    on=place_in_path,
    may=may_read_code,
    returns=TagView,
    open=True,
    slashes="tag_name",
)
def get_tag(call: Call, place: Place) -> TagView:
    """Get a tag."""
    tag = queries.find_tag(place.repository, call.path["tag_name"])
    return tag_views(call.db, place, [tag], project_url(call, place.project))[0]


@routes.post("/projects/:id/repository/tags", on=place_in_path, may=may_push_code, returns=TagView, staged=True)
def create_tag(stage: Stage, place: Place, params: CreateTag) -> TagView:
    """Create a tag, and tell about it where a description is given."""
    tag = work.create_tag(stage.database, stage.actor, place, params.tag_name, params.ref, params.message or "")
    if params.release_description:
        told = partial(service.create_release, description=params.release_description)
        stage.database.write(lambda db: told(db, stage.actor, place, params.tag_name))
    url = project_url(stage, place.project)
    return stage.database.read(lambda db: tag_views(db, place, [tag], url)[0])


@routes.delete(
    "/projects/:id/repository/tags/:tag_name",
    on=place_in_path,
    may=may_push_code,
    returns=None,
    staged=True,
    slashes="tag_name",
)
def delete_tag(stage: Stage, place: Place) -> None:
    """Delete a tag with its release."""
    work.delete_tag(stage.database, stage.actor, place, stage.path["tag_name"])


@routes.post(
    "/projects/:id/repository/tags/:tag_name/release",
    on=place_in_path,
    may=may_push_code,
    returns=TagReleaseView,
    slashes="tag_name",
)
def add_release_to_tag(call: Call, place: Place, params: DescribeRelease) -> TagReleaseView:
    """Tell about a tag."""
    tag = _told_about(call, place)
    created = service.create_release(call.db, call.actor, place, tag, description=params.description)
    return tag_release_view(created)


@routes.put(
    "/projects/:id/repository/tags/:tag_name/release",
    on=place_in_path,
    may=may_push_code,
    returns=TagReleaseView,
    slashes="tag_name",
)
def edit_release_of_tag(call: Call, place: Place, params: DescribeRelease) -> TagReleaseView:
    """Tell something else about a tag."""
    release = queries.release_or_none(call.db, place.project.id, _told_about(call, place))
    if release is None:
        raise NotFound(message="Release does not exist")
    return tag_release_view(service.edit_release(call.db, release, {"description": params.description}))


def _told_about(call: Call, place: Place) -> str:
    """The tag in the path, where it is there and the caller may tell about it."""
    name = call.path["tag_name"]
    if tag_or_none(place.repository, name) is None:
        raise NotFound(message="Tag does not exist")
    service.require_release(call.db, call.actor, place.here, place.project, name)
    return name
