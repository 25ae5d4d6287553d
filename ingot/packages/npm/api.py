"""Endpoints of npm packages."""

from typing import Any

import msgspec

from ingot.core.access.rules import anyone
from ingot.core.api.request_fields import BadRequest, read_body
from ingot.core.api.routes import BodyContext, Call, ContentResponse, Routes
from ingot.core.errors import NotFound
from ingot.packages.access.finders import package_group_in_path, package_project_in_path, writable_project_in_path
from ingot.packages.files.downloads import download_response
from ingot.packages.files.store import package_store_of
from ingot.packages.npm.publications import NpmDeprecation, NpmPublication, receive_npm_package
from ingot.packages.npm.queries import find_project_of_package, find_versions, tag_or_none
from ingot.packages.npm.service import deprecate_versions, publish_package, set_tag
from ingot.packages.npm.views import NpmPackageView, npm_package_view, npm_tags
from ingot.packages.records import policy
from ingot.packages.records.queries import (
    PackageScope,
    files_of,
    package_by_version,
    project_scope,
    readable_in_group,
)
from ingot.packages.records.tables import package_tags
from ingot.packages.records.upload_access import allowed_upload_bytes, require_push_to
from ingot.packages.records.views import MessageView
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project

routes = Routes("packages")
MAX_TAG_BODY_BYTES = 4096


async def _receive_version(context: BodyContext) -> str:
    """Return the version in the body of a tag, which is a JSON text."""
    await allowed_upload_bytes(context, lambda _: MAX_TAG_BODY_BYTES, "npm", context.path["package_name"])
    pieces = [piece async for piece in read_body(context.receive, context.headers, MAX_TAG_BODY_BYTES)]
    try:
        return msgspec.json.decode(b"".join(pieces), type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BadRequest(400, "400 (Bad request) the body is not a version in JSON") from None


@routes.get(
    "/projects/:id/packages/npm/-/package/:package_name/dist-tags",
    on=package_project_in_path,
    may=policy.may_read_packages,
    returns=dict[str, str],
    open=True,
    package_client=True,
    slashes="package_name",
)
def get_npm_tags(call: Call, project: Project) -> dict[str, str]:
    """Get the tags of an npm package."""
    return _tags(call, project_scope(project.id))


@routes.put(
    "/projects/:id/packages/npm/-/package/:package_name/dist-tags/:tag",
    on=writable_project_in_path,
    may=policy.may_write_packages,
    returns=None,
    status=204,
    open=True,
    package_client=True,
    read_body=_receive_version,
    slashes="package_name",
)
def set_npm_tag(call: Call, project: Project, version: str) -> None:
    """Let a tag name a version of an npm package."""
    name = call.path["package_name"]
    require_push_to(call.db, call.actor, project.id, "npm", name)
    package = package_by_version(call.db, project.id, "npm", name, version)
    if package is None:
        raise NotFound("Package")
    set_tag(call.db, project, package, call.path["tag"])


@routes.delete(
    "/projects/:id/packages/npm/-/package/:package_name/dist-tags/:tag",
    on=writable_project_in_path,
    may=policy.may_delete_packages,
    returns=None,
    status=204,
    open=True,
    package_client=True,
    slashes="package_name",
)
def delete_npm_tag(call: Call, project: Project) -> None:
    """Delete a tag of an npm package."""
    tag = tag_or_none(call.db, project.id, call.path["package_name"], call.path["tag"])
    if tag is None:
        raise NotFound("Package tag")
    call.db.delete(package_tags, tag.id)


@routes.get(
    "/projects/:id/packages/npm/:package_name/-/:file_name",
    on=package_project_in_path,
    may=policy.may_read_packages,
    returns=ContentResponse,
    instead={302: None},
    open=True,
    package_client=True,
    heavy=True,
    slashes="package_name",
)
def download_npm_package(call: Call, project: Project) -> ContentResponse:
    """Download an npm package."""
    versions = find_versions(call.db, project_scope(project.id), call.path["package_name"])
    wanted = call.path["file_name"].rpartition("/")[2]
    for file in files_of(call.db, [package.id for package in versions]):
        if file.file_name == wanted:
            return download_response(call.db, package_store_of(call.settings), file)
    raise NotFound("Package")


@routes.put(
    "/projects/:id/packages/npm/:package_name",
    on=writable_project_in_path,
    may=policy.may_write_packages,
    returns=MessageView,
    open=True,
    package_client=True,
    read_body=receive_npm_package,
    slashes="package_name",
)
def publish_npm_package(call: Call, project: Project, publication: NpmPublication | NpmDeprecation) -> MessageView:
    """Publish a version of an npm package, or deprecate versions."""
    require_push_to(call.db, call.actor, project.id, "npm", publication.name)
    if isinstance(publication, NpmDeprecation):
        versions = find_versions(call.db, project_scope(project.id), publication.name)
        deprecate_versions(call.db, versions, publication)
        return MessageView("200 OK")
    publish_package(call.db, call.actor, project, publication)
    return MessageView("200 OK")


@routes.get(
    "/projects/:id/packages/npm/:package_name",
    on=package_project_in_path,
    may=policy.may_read_packages,
    returns=NpmPackageView,
    open=True,
    package_client=True,
    slashes="package_name",
)
def get_npm_package(call: Call, project: Project) -> NpmPackageView:
    """Get the versions of an npm package of a project."""
    return _metadata(call, project_scope(project.id))


@routes.get(
    "/groups/:id/-/packages/npm/:package_name",
    on=package_group_in_path,
    may=may_see_group,
    returns=NpmPackageView,
    open=True,
    package_client=True,
    slashes="package_name",
)
def get_group_npm_package(call: Call, group: Namespace) -> NpmPackageView:
    """Get the versions of an npm package of the projects in a group."""
    return _metadata(call, readable_in_group(call.db, call.actor, group.id))


@routes.get(
    "/packages/npm/-/package/:package_name/dist-tags",
    may=anyone,
    returns=dict[str, str],
    package_client=True,
    slashes="package_name",
)
def get_instance_npm_tags(call: Call) -> dict[str, str]:
    """Get the tags of an npm package whose scope is the top-level namespace of its project."""
    return _tags(call, _instance_scope(call))


@routes.get(
    "/packages/npm/:package_name", may=anyone, returns=NpmPackageView, package_client=True, slashes="package_name"
)
def get_instance_npm_package(call: Call) -> NpmPackageView:
    """Get the versions of an npm package whose scope is the top-level namespace of its project."""
    return _metadata(call, _instance_scope(call))


def _instance_scope(call: Call) -> PackageScope:
    return project_scope(find_project_of_package(call.db, call.actor, call.path["package_name"]).id)


def _metadata(call: Call, scope: PackageScope) -> NpmPackageView:
    name = call.path["package_name"]
    return npm_package_view(call.db, name, find_versions(call.db, scope, name), call.origin.base)


def _tags(call: Call, scope: PackageScope) -> dict[str, Any]:
    return npm_tags(call.db, find_versions(call.db, scope, call.path["package_name"]))
