"""Response structs of the CI/CD catalog."""

from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote

import msgspec

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.ci.catalog.queries import components_by_version, latest_versions, readmes_by_version, resource_or_none
from ingot.ci.catalog.tables import CatalogComponent, CatalogResource, CatalogVersion, ComponentInput
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.projects.projects.queries import projects_by_ids
from ingot.projects.projects.relations import topics_by_project
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import project_avatar_url


class CatalogResourceView(View):
    """A project in the catalog."""

    id: int
    project_id: int
    name: str
    description: str | None
    full_path: str
    icon: str | None
    topics: list[str]
    star_count: int
    starrers_path: str
    visibility_level: str
    verification_level: Literal["unverified"]
    web_path: str
    catalog_url: str
    latest_version: str | None
    latest_released_at: Timestamp | None
    last_30_day_usage_count: int
    created_at: Timestamp


class CatalogComponentView(View):
    """A component of a version."""

    id: int
    name: str
    description: str | None
    include_path: str
    inputs: list[ComponentInput]
    last_30_day_usage_count: int


class SemanticVersionView(View):
    """The numbers of a version."""

    major: int
    minor: int
    patch: int


class CatalogVersionView(View):
    """A published version; its README is not part of the response."""

    id: int
    project_id: int
    name: str
    path: str
    sha: str
    semver: SemanticVersionView
    created_at: Timestamp
    released_at: Timestamp
    author: UserBrief | None
    components: list[CatalogComponentView]


class PublishedVersionView(View):
    """The page of the catalog that shows a published version."""

    catalog_url: str


def is_in_catalog(db: Connection, project_id: int) -> bool:
    """Return whether a project is a catalog resource."""
    return resource_or_none(db, project_id) is not None


def readme_of_version(db: Connection, version: CatalogVersionView) -> str | None:
    """Return the README of a version."""
    return readmes_by_version(db, [version.id]).get(version.id)


def catalog_url(project: Project, base: str) -> str:
    """Return the URL of the page of a project in the catalog."""
    return f"{base}/explore/catalog/{project.full_path}"


def resource_views(db: Connection, resources: Sequence[CatalogResource], base: str) -> list[CatalogResourceView]:
    """Build the views of a page of the catalog with three statements."""
    project_ids = [resource.project_id for resource in resources]
    projects, topics = projects_by_ids(db, project_ids), topics_by_project(db, project_ids)
    latest = latest_versions(db, resources)
    return [
        _resource_view(each, project, topics.get(project.id, []), latest.get(each.id), base)
        for each in resources
        # On PostgreSQL, a project may be deleted between the statements.
        if (project := projects.get(each.project_id)) is not None
    ]


def _resource_view(
    resource: CatalogResource, project: Project, topics: list[str], latest: CatalogVersion | None, base: str
) -> CatalogResourceView:
    return CatalogResourceView(
        id=resource.id,
        project_id=project.id,
        name=project.name,
        description=project.description,
        full_path=project.full_path,
        icon=project_avatar_url(project, base),
        topics=topics,
        star_count=project.star_count,
        starrers_path=f"/{project.full_path}/-/starrers",
        visibility_level=project.visibility,
        verification_level="unverified",
        web_path=f"/{project.full_path}",
        catalog_url=catalog_url(project, base),
        latest_version=None if latest is None else latest.tag,
        latest_released_at=None if latest is None else latest.released_at,
        last_30_day_usage_count=resource.usage_count,
        created_at=resource.created_at,
    )


def version_views(
    db: Connection, project: Project, versions: Sequence[CatalogVersion], base: str
) -> list[CatalogVersionView]:
    """Build the views of a page of versions with two statements."""
    components = components_by_version(db, [version.id for version in versions])
    authors = user_briefs_by_ids(db, [version.published_by_id for version in versions], base)
    return [
        CatalogVersionView(
            id=each.id,
            project_id=project.id,
            name=each.tag,
            path=f"/{project.full_path}/-/tags/{quote(each.tag, safe='')}",
            sha=each.sha,
            semver=SemanticVersionView(each.semver_major, each.semver_minor, each.semver_patch),
            created_at=each.created_at,
            released_at=each.released_at,
            author=authors.get(each.published_by_id or 0),
            components=[_component_view(project, each.tag, component) for component in components.get(each.id, ())],
        )
        for each in versions
    ]


def _component_view(project: Project, version: str, component: CatalogComponent) -> CatalogComponentView:
    return CatalogComponentView(
        id=component.id,
        name=component.name,
        description=component.description,
        include_path=f"$CI_SERVER_FQDN/{project.full_path}/{component.name}@{version}",
        inputs=msgspec.json.decode(component.inputs, type=list[ComponentInput]),
        last_30_day_usage_count=component.usage_count,
    )
