"""Endpoints of tags and their releases."""

from functools import partial

from ingot.core.access.rules import require
from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound
from ingot.git.history.signatures import tag_signature_or_none
from ingot.git.history.tags import tag_or_none
from ingot.repositories.commits.signatures import check_signature
from ingot.repositories.commits.views import SignatureView, signature_view
from ingot.repositories.context import (
    RepositoryContext,
    may_push_code,
    may_read_code,
    project_url,
    repository_in_path,
    repository_state,
)
from ingot.repositories.tags import change, queries, service
from ingot.repositories.tags.params import CreateTag, DescribeRelease, ListTags
from ingot.repositories.tags.policy import may_write_releases
from ingot.repositories.tags.views import TagReleaseView, TagView, tag_release_view, tag_views

routes = Routes("tags")


@routes.get(
    "/projects/:id/repository/tags",
    on=repository_in_path,
    may=may_read_code,
    returns=list[TagView],
    open=True,
    cached=repository_state,
)
def list_tags(call: Call, context: RepositoryContext, params: ListTags, page: Page) -> Listing[TagView]:
    """List the tags of a repository."""
    listing = queries.list_tags(context.repository, context.project, params, page)
    return listing.of(tag_views(call.db, call.actor, context, listing.items, project_url(call, context.project)))


@routes.get(
    "/projects/:id/repository/tags/:tag_name",
    on=repository_in_path,
    may=may_read_code,
    returns=TagView,
    open=True,
    slashes="tag_name",
)
def get_tag(call: Call, context: RepositoryContext) -> TagView:
    """Get a tag."""
    tag = queries.find_tag(context.repository, call.path["tag_name"])
    return tag_views(call.db, call.actor, context, [tag], project_url(call, context.project))[0]


@routes.get(
    "/projects/:id/repository/tags/:tag_name/signature",
    on=repository_in_path,
    may=may_read_code,
    returns=SignatureView,
    slashes="tag_name",
)
def get_tag_signature(call: Call, context: RepositoryContext) -> SignatureView:
    """Get the type and verification status of a tag's signature."""
    tag = queries.find_tag(context.repository, call.path["tag_name"])
    signature = tag_signature_or_none(context.repository, tag.oid)
    if signature is None:
        raise NotFound("Signature")
    return signature_view(signature.kind, check_signature(call.db, signature))


@routes.post("/projects/:id/repository/tags", on=repository_in_path, may=may_push_code, returns=TagView, staged=True)
def create_tag(stage: StagedCall, context: RepositoryContext, params: CreateTag) -> TagView:
    """Create a tag, and a release if a description is given."""
    if params.release_description:
        require(may_write_releases(stage.actor, context.access, context))
    tag = change.create_tag(stage.database, stage.actor, context, params.tag_name, params.ref, params.message or "")
    if params.release_description:
        create_release = partial(service.create_release, description=params.release_description)
        stage.database.write(lambda db: create_release(db, stage.actor, context, params.tag_name))
    url = project_url(stage, context.project)
    return stage.database.read(lambda db: tag_views(db, stage.actor, context, [tag], url)[0])


@routes.delete(
    "/projects/:id/repository/tags/:tag_name",
    on=repository_in_path,
    may=may_push_code,
    returns=None,
    staged=True,
    slashes="tag_name",
)
def delete_tag(stage: StagedCall, context: RepositoryContext) -> None:
    """Delete a tag with its release."""
    change.delete_tag(stage.database, stage.actor, context, stage.path["tag_name"])


@routes.post(
    "/projects/:id/repository/tags/:tag_name/release",
    on=repository_in_path,
    may=may_write_releases,
    returns=TagReleaseView,
    slashes="tag_name",
)
def add_release_to_tag(call: Call, context: RepositoryContext, params: DescribeRelease) -> TagReleaseView:
    """Create the release of a tag."""
    tag = _releasable_tag_in_path(call, context)
    created = service.create_release(call.db, call.actor, context, tag, description=params.description)
    return tag_release_view(created)


@routes.put(
    "/projects/:id/repository/tags/:tag_name/release",
    on=repository_in_path,
    may=may_write_releases,
    returns=TagReleaseView,
    slashes="tag_name",
)
def edit_release_of_tag(call: Call, context: RepositoryContext, params: DescribeRelease) -> TagReleaseView:
    """Update the release of a tag."""
    release = queries.release_or_none(call.db, context.project.id, _releasable_tag_in_path(call, context))
    if release is None:
        raise NotFound(message="Release does not exist")
    return tag_release_view(service.edit_release(call.db, release, {"description": params.description}))


def _releasable_tag_in_path(call: Call, context: RepositoryContext) -> str:
    """Return the name of the tag in the path; raise unless it exists and the caller may release it."""
    name = call.path["tag_name"]
    if tag_or_none(context.repository, name) is None:
        raise NotFound(message="Tag does not exist")
    service.require_may_release(call.db, call.actor, context.access, context.project, name)
    return name
