"""Response structs of container repositories and their tags."""

from collections import defaultdict
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from ingot.ci.pipelines.predefined_variables import registry_host
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.packages.containers.queries import repository_overviews, repository_path, tag_counts, tags_of
from ingot.packages.containers.tables import (
    ContainerProtectionRule,
    ContainerRepository,
    ContainerTag,
    TaggedManifest,
)
from ingot.packages.protection.levels import level_name
from ingot.packages.records.queries import project_paths


class ContainerTagView(View):
    """Tag of an image."""

    name: str
    path: str
    location: str


class ContainerTagDetails(ContainerTagView):
    """Tag of an image with its manifest."""

    revision: str
    short_revision: str
    digest: str
    created_at: Timestamp
    total_size: int


class ContainerRepositoryView(View):
    """Images under one path."""

    id: int
    name: str
    path: str
    project_id: int
    location: str
    created_at: Timestamp
    cleanup_policy_started_at: Timestamp | None
    status: str | None
    tags_count: int | UnsetType = UNSET
    tags: list[ContainerTagView] | UnsetType = UNSET
    size: int | UnsetType = UNSET
    delete_api_path: str | UnsetType = UNSET


class GroupRepository(NamedTuple):
    """Repository on the page of a group."""

    repository: ContainerRepositoryView
    project_path: str
    tags_count: int


class ContainerRuleView(View):
    """Protection rule of container repositories."""

    id: int
    project_id: int
    repository_path_pattern: str
    minimum_access_level_for_push: str | None
    minimum_access_level_for_delete: str | None


def repository_views(
    db: Connection,
    repositories: list[ContainerRepository],
    base_url: str,
    *,
    tags: bool = False,
    tags_count: bool = False,
) -> list[ContainerRepositoryView]:
    """Return the views of repositories, with a fixed number of statements."""
    ids = [repository.id for repository in repositories]
    paths = project_paths(db, sorted({repository.project_id for repository in repositories}))
    counts = tag_counts(db, ids) if tags_count else {}
    by_repository: defaultdict[int, list[ContainerTag]] = defaultdict(list)
    for tag in tags_of(db, ids) if tags else ():
        by_repository[tag.repository_id].append(tag)
    host = registry_host(base_url)
    views = []
    for repository in repositories:
        path = repository_path(paths.get(repository.project_id, ""), repository.name)
        views.append(
            ContainerRepositoryView(
                repository.id,
                repository.name,
                path,
                repository.project_id,
                f"{host}/{path}",
                repository.created_at,
                None,
                None,
                counts.get(repository.id, 0) if tags_count else UNSET,
                [tag_view(tag, path, host) for tag in by_repository[repository.id]] if tags else UNSET,
            )
        )
    return views


def group_repositories(db: Connection, repositories: list[ContainerRepositoryView]) -> list[GroupRepository]:
    """Return repositories with their projects and numbers of tags; one statement for all."""
    found = repository_overviews(db, [repository.id for repository in repositories])
    return [GroupRepository(each, *found[each.id]) for each in repositories if each.id in found]


def tag_view(tag: ContainerTag, path: str, host: str) -> ContainerTagView:
    """Return the view of a tag."""
    return ContainerTagView(tag.name, f"{path}:{tag.name}", f"{host}/{path}:{tag.name}")


def tag_details(tag: TaggedManifest, path: str, host: str) -> ContainerTagDetails:
    """Return the view of a tag with its manifest."""
    revision = (tag.config_digest or tag.digest).removeprefix("sha256:")
    return ContainerTagDetails(
        tag.name,
        f"{path}:{tag.name}",
        f"{host}/{path}:{tag.name}",
        revision,
        revision[:9],
        tag.digest,
        tag.updated_at,
        tag.total_size,
    )


def container_rule_view(rule: ContainerProtectionRule) -> ContainerRuleView:
    """Return the view of a rule."""
    return ContainerRuleView(
        rule.id, rule.project_id, rule.path_pattern, level_name(rule.push_level), level_name(rule.delete_level)
    )
