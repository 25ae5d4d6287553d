"""Queries of container images."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import bindparam, exists, func, select

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound, Unauthenticated
from ingot.packages.access.finders import find_client_project
from ingot.packages.containers.policy import images_enabled, visible_images
from ingot.packages.containers.tables import (
    ContainerBlob,
    ContainerManifest,
    ContainerRepository,
    ContainerTag,
    TaggedManifest,
    container_blob_links,
    container_blobs,
    container_manifests,
    container_references,
    container_repositories,
    container_tags,
    container_uploads,
)
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import Project, projects

_repositories, _links, _blobs = container_repositories, container_blob_links, container_blobs
_manifests, _tags = container_manifests, container_tags
_BY_NAME = select(_repositories).where(
    _repositories.c.project_id == bindparam("project"), _repositories.c.name == bindparam("name")
)
_PUBLISHED = select(_repositories).where(_repositories.c.last_published_at.is_not(None))
_BY_ID = _PUBLISHED.where(_repositories.c.id == bindparam("repository"))
_OF_PROJECT = list_query(
    _PUBLISHED.where(_repositories.c.project_id == bindparam("project")), _repositories.c.id, _repositories.c.id.asc()
)
_BLOB = (
    select(_blobs)
    .join(_links, _links.c.blob_id == _blobs.c.id)
    .where(_links.c.repository_id == bindparam("repository"), _blobs.c.digest == bindparam("digest"))
)
_BLOB_BY_DIGEST = select(_blobs).where(_blobs.c.digest == bindparam("digest"))
_LINKED = (
    select(_blobs.c.digest)
    .join(_links, _links.c.blob_id == _blobs.c.id)
    .where(_links.c.repository_id == bindparam("repository"), in_list(_blobs.c.digest, "digests"))
)
_IN_REPOSITORY = select(_manifests).where(_manifests.c.repository_id == bindparam("repository"))
_MANIFEST = _IN_REPOSITORY.where(_manifests.c.digest == bindparam("digest"))
_BY_TAG = _IN_REPOSITORY.join(_tags, _tags.c.manifest_id == _manifests.c.id).where(
    _tags.c.repository_id == bindparam("repository"), _tags.c.name == bindparam("tag")
)
MAX_REFERRERS_BYTES = 4 * 2**20
"""Content of the referrers on one page; a larger one is on a page of its own."""
_REFERRER_SIZES = (
    select(_manifests.c.id, func.length(_manifests.c.content))
    .where(
        _manifests.c.repository_id == bindparam("repository"),
        _manifests.c.subject == bindparam("subject"),
        _manifests.c.id > bindparam("after"),
    )
    .order_by(_manifests.c.id)
    .limit(1000)
)
_BY_IDS = _IN_REPOSITORY.where(in_list(_manifests.c.id, "manifests")).order_by(_manifests.c.id)
_EXISTING = select(_manifests.c.digest).where(
    _manifests.c.repository_id == bindparam("repository"), in_list(_manifests.c.digest, "digests")
)
_TAG = select(_tags).where(_tags.c.repository_id == bindparam("repository"), _tags.c.name == bindparam("tag"))
_ALL_TAGS = select(_tags).where(_tags.c.repository_id == bindparam("repository")).order_by(_tags.c.id)
_TAG_NAMES = (
    select(_tags.c.name)
    .where(_tags.c.repository_id == bindparam("repository"), _tags.c.name > bindparam("after"))
    .order_by(_tags.c.name)
    .limit(bindparam("most"))
)
_TAGGED = (
    select(
        _tags.c.id,
        _tags.c.name,
        _tags.c.updated_at,
        _manifests.c.digest,
        _manifests.c.config_digest,
        _manifests.c.total_size,
    )
    .join(_manifests, _manifests.c.id == _tags.c.manifest_id)
    .where(_tags.c.repository_id == bindparam("repository"))
)
_TAGGED_BY_NAME = _TAGGED.where(_tags.c.name == bindparam("tag"))
_TAG_LIST = list_query(_TAGGED, _tags.c.id, _tags.c.name.asc())
_TAG_COUNTS = (
    select(_tags.c.repository_id, func.count())
    .where(in_list(_tags.c.repository_id, "repositories"))
    .group_by(_tags.c.repository_id)
)
_OVERVIEWS = (
    select(_repositories.c.id, projects.c.full_path, func.count(_tags.c.id))
    .join(projects, projects.c.id == _repositories.c.project_id)
    .outerjoin(_tags, _tags.c.repository_id == _repositories.c.id)
    .where(in_list(_repositories.c.id, "repositories"))
    .group_by(_repositories.c.id, projects.c.full_path)
)
_TAGS_OF = (
    select(_tags).where(in_list(_tags.c.repository_id, "repositories")).order_by(_tags.c.repository_id, _tags.c.name)
)
_SIZE = (
    select(func.coalesce(func.sum(_blobs.c.size), 0))
    .join(_links, _links.c.blob_id == _blobs.c.id)
    .where(_links.c.repository_id == bindparam("repository"))
)
_IS_REFERENCED = select(
    exists()
    .where(container_references.c.manifest_id == _manifests.c.id)
    .where(_manifests.c.repository_id == bindparam("repository"), container_references.c.digest == bindparam("digest"))
)
_UPLOAD = select(container_uploads.c.id).where(
    container_uploads.c.uuid == bindparam("uuid"), container_uploads.c.repository_id == bindparam("repository")
)
_KEYS = select(_blobs.c.storage_key).where(in_list(_blobs.c.storage_key, "keys"))
_CATALOG = (
    select(projects.c.full_path_key, _repositories.c.name)
    .join(projects, projects.c.id == _repositories.c.project_id)
    .where(_repositories.c.last_published_at.is_not(None), projects.c.namespace_id.is_not(None))
    .order_by(projects.c.full_path_key, _repositories.c.name)
    .limit(bindparam("most"))
)
_RECORDED_BLOBS = (
    select(container_blobs.c.id, container_blobs.c.storage_key, container_blobs.c.size)
    .where(container_blobs.c.id > bindparam("after"))
    .order_by(container_blobs.c.id)
    .limit(500)
)


class RepositoryOverview(NamedTuple):
    """Project of a repository and the number of its tags."""

    project_path: str
    tags_count: int


class ImagePath(NamedTuple):
    """Project and repository of a path, with the caller's access; the repository may not exist yet."""

    access: Access
    project: Project
    name: str
    repository: ContainerRepository | None

    @property
    def path(self) -> str:
        """The whole path."""
        return repository_path(self.project.full_path, self.name)


def repository_path(project_path: str, name: str) -> str:
    """Return the path of a repository."""
    return f"{project_path.lower()}/{name}" if name else project_path.lower()


def find_image_path(db: Connection, actor: Actor, path: str) -> ImagePath:
    """Return the project whose path begins a path; the longest one wins. Raise NotFound or Unauthenticated."""
    parts = path.split("/")
    for length in range(len(parts), 1, -1):
        try:
            access, project = find_client_project(db, actor, "/".join(parts[:length]), "images")
        except (NotFound, Unauthenticated):  # A shorter path may be that of a project.
            continue
        name = "/".join(parts[length:])
        repository = db.first(ContainerRepository, _BY_NAME, project=project.id, name=name)
        return ImagePath(access, project, name, repository)
    if actor.known or actor.deploy_token is not None:
        raise NotFound("Repository")
    raise Unauthenticated


@lru_cache(maxsize=8)
def _group_query(caller: str) -> ListQuery:
    below = projects.c.namespace_id.in_(
        select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("group"))
    )
    visible = images_enabled() if caller == "all" else visible_images(external=caller == "external")
    matching = _PUBLISHED.join(projects, projects.c.id == _repositories.c.project_id).where(below, visible)
    return list_query(matching, _repositories.c.id, _repositories.c.id.asc())


def list_group_repositories(db: Connection, actor: Actor, group_id: int, page: Page) -> Listing[ContainerRepository]:
    """List the repositories below a group that the caller may read."""
    if actor.admin:
        return fetch_page(db, ContainerRepository, _group_query("all"), page, group=group_id)
    query = _group_query("external" if actor.external else "user")
    values = {"group": group_id, "actor": actor.user_id, "today": db.today}
    return fetch_page(db, ContainerRepository, query, page, **values)


def list_repositories(db: Connection, project_id: int, page: Page) -> Listing[ContainerRepository]:
    """List the repositories of a project."""
    return fetch_page(db, ContainerRepository, _OF_PROJECT, page, project=project_id)


def find_repository(db: Connection, repository_id: int, project_id: int | None = None) -> ContainerRepository:
    """Return a repository, of a project if one is given; raise NotFound if there is none."""
    repository = db.first(ContainerRepository, _BY_ID, repository=repository_id)
    if repository is None or project_id not in (None, repository.project_id):
        raise NotFound("Repository")
    return repository


def repository_or_none(db: Connection, project_id: int, name: str) -> ContainerRepository | None:
    """Return a repository by name, also one without an image yet."""
    return db.first(ContainerRepository, _BY_NAME, project=project_id, name=name)


def linked_blob_or_none(db: Connection, repository_id: int, digest: str) -> ContainerBlob | None:
    """Return a blob of a repository."""
    return db.first(ContainerBlob, _BLOB, repository=repository_id, digest=digest)


def blob_or_none(db: Connection, digest: str) -> ContainerBlob | None:
    """Return a blob of any repository."""
    return db.first(ContainerBlob, _BLOB_BY_DIGEST, digest=digest)


def missing_digests(db: Connection, repository_id: int, blobs: Sequence[str], manifests: Sequence[str]) -> list[str]:
    """Return those of these blobs and manifests that a repository does not have."""
    linked = {digest for (digest,) in db.rows(_LINKED, repository=repository_id, digests=list(blobs))}
    existing = {digest for (digest,) in db.rows(_EXISTING, repository=repository_id, digests=list(manifests))}
    return [*(digest for digest in blobs if digest not in linked), *(d for d in manifests if d not in existing)]


def manifest_or_none(db: Connection, repository_id: int, name: str) -> ContainerManifest | None:
    """Return a manifest by its digest or tag."""
    if ":" in name:
        return db.first(ContainerManifest, _MANIFEST, repository=repository_id, digest=name)
    return db.first(ContainerManifest, _BY_TAG, repository=repository_id, tag=name)


def referrers(
    db: Connection, repository_id: int, subject: str, after: int = 0
) -> tuple[list[ContainerManifest], int | None]:
    """Return a page of the manifests that describe another one, and the last id on it if there are more.

    Their number on a page depends on their size: a thousand of them may have four gigabytes.
    """
    sizes = db.rows(_REFERRER_SIZES, repository=repository_id, subject=subject, after=after)
    page: list[int] = []
    total = 0
    for manifest_id, size in sizes:
        total += size
        if page and total > MAX_REFERRERS_BYTES:
            break
        page.append(manifest_id)
    found = db.all(ContainerManifest, _BY_IDS, repository=repository_id, manifests=page) if page else []
    return found, page[-1] if len(page) < len(sizes) else None


def tag_or_none(db: Connection, repository_id: int, name: str) -> ContainerTag | None:
    """Return a tag of a repository."""
    return db.first(ContainerTag, _TAG, repository=repository_id, tag=name)


def find_tagged_manifest(db: Connection, repository_id: int, name: str) -> TaggedManifest:
    """Return a tag of a repository with its manifest; raise NotFound if there is none."""
    tagged = db.first(TaggedManifest, _TAGGED_BY_NAME, repository=repository_id, tag=name)
    if tagged is None:
        raise NotFound("Tag")
    return tagged


def all_tags(db: Connection, repository_id: int) -> list[ContainerTag]:
    """Return all tags of a repository."""
    return db.all(ContainerTag, _ALL_TAGS, repository=repository_id)


def tag_names(db: Connection, repository_id: int, after: str, most: int) -> list[str]:
    """Return the next tags of a repository by name."""
    return [name for (name,) in db.rows(_TAG_NAMES, repository=repository_id, after=after, most=most)]


def list_tags(db: Connection, repository_id: int, page: Page) -> Listing[TaggedManifest]:
    """List the tags of a repository by name."""
    return fetch_page(db, TaggedManifest, _TAG_LIST, page, repository=repository_id)


def tags_of(db: Connection, repository_ids: Sequence[int]) -> list[ContainerTag]:
    """Return the tags of repositories."""
    return db.all(ContainerTag, _TAGS_OF, repositories=list(repository_ids)) if repository_ids else []


def tag_counts(db: Connection, repository_ids: Sequence[int]) -> dict[int, int]:
    """Return the numbers of tags of repositories."""
    return dict(db.rows(_TAG_COUNTS, repositories=list(repository_ids))) if repository_ids else {}


def repository_overviews(db: Connection, repository_ids: Sequence[int]) -> dict[int, RepositoryOverview]:
    """Return the projects of repositories and the numbers of their tags."""
    rows = db.rows(_OVERVIEWS, repositories=list(repository_ids)) if repository_ids else []
    return {number: RepositoryOverview(path, count) for number, path, count in rows}


def repository_size(db: Connection, repository_id: int) -> int:
    """Return the size of all blobs of a repository."""
    return int(db.value(_SIZE, repository=repository_id))


def is_referenced(db: Connection, repository_id: int, digest: str) -> bool:
    """Return whether a manifest of a repository references a digest."""
    return bool(db.value(_IS_REFERENCED, repository=repository_id, digest=digest))


def upload_or_none(db: Connection, repository_id: int, uuid: str) -> int | None:
    """Return the id of an upload to a repository."""
    upload_id: int | None = db.value(_UPLOAD, uuid=uuid, repository=repository_id)
    return upload_id


def existing_blob_keys(db: Connection, keys: Sequence[str]) -> set[str]:
    """Return those of these storage keys that a blob has."""
    return {key for (key,) in db.rows(_KEYS, keys=list(keys))}


def catalog(db: Connection, most: int) -> list[str]:
    """Return the paths of all repositories."""
    rows: list[tuple[Any, ...]] = db.rows(_CATALOG, most=most)
    return [repository_path(path, name) for path, name in rows]


def recorded_blobs(db: Connection, after: int) -> list[tuple[int, str, int]]:
    """List the next layers with their ids, storage keys and sizes."""
    return [(row_id, key, size) for row_id, key, size in db.rows(_RECORDED_BLOBS, after=after)]
