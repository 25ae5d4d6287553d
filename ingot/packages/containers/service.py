"""State changes of container images."""

import secrets

from sqlalchemy import bindparam, delete, exists, select

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Denied, NotFound
from ingot.packages.containers.manifests import ParsedManifest
from ingot.packages.containers.queries import (
    blob_or_none,
    linked_blob_or_none,
    manifest_or_none,
    missing_digests,
    repository_or_none,
    repository_path,
    tag_or_none,
)
from ingot.packages.containers.tables import (
    ContainerBlob,
    ContainerManifest,
    ContainerProtectionRule,
    ContainerRepository,
    ContainerTag,
    container_blob_links,
    container_blobs,
    container_manifests,
    container_protection_rules,
    container_references,
    container_repositories,
    container_tags,
    container_uploads,
)
from ingot.packages.files.store import ReceivedFile
from ingot.packages.records.rules import caller_level, required_level
from ingot.packages.records.service import delete_stored_files
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.policy import name_matches

_RULES = select(container_protection_rules).where(container_protection_rules.c.project_id == bindparam("project"))
_DELETE_UPLOAD = delete(container_uploads).where(container_uploads.c.uuid == bindparam("dropped"))
_DELETE_LINK = delete(container_blob_links).where(
    container_blob_links.c.repository_id == bindparam("repository"), container_blob_links.c.blob_id == bindparam("blob")
)
_manifests = container_manifests
_other = _manifests.alias("other")
# Neither tagged, nor part of an index, nor a description of an existing manifest such as a signature.
_UNUSED_MANIFESTS = (
    select(_manifests.c.id)
    .where(
        _manifests.c.updated_at < bindparam("before"),
        ~exists().where(container_tags.c.manifest_id == _manifests.c.id),
        ~exists().where(
            container_references.c.digest == _manifests.c.digest,
            container_references.c.manifest_id == _other.c.id,
            _other.c.repository_id == _manifests.c.repository_id,
        ),
        ~exists().where(_other.c.repository_id == _manifests.c.repository_id, _other.c.digest == _manifests.c.subject),
    )
    .limit(500)
)


_MAX_NAMED_DIGESTS = 20


class MissingParts(Exception):
    """Blobs or manifests that a manifest references and that the repository does not have."""

    def __init__(self, digests: list[str]) -> None:
        super().__init__(", ".join(digests[:_MAX_NAMED_DIGESTS]))
        self.digests = digests


def find_or_create_repository(db: Connection, project: Project, name: str) -> ContainerRepository:
    """Return a repository of a project; create it if there is none."""
    repository = repository_or_none(db, project.id, name)
    if repository is None:
        db.insert(container_repositories, project_id=project.id, name=name, created_at=db.now, last_published_at=None)
        repository = repository_or_none(db, project.id, name)
    if repository is None:
        raise NotFound("Repository")
    return repository


def start_upload(db: Connection, repository: ContainerRepository) -> str:
    """Record an upload and return its name."""
    uuid = secrets.token_hex(16)
    db.insert(container_uploads, uuid=uuid, repository_id=repository.id, created_at=db.now)
    return uuid


def end_upload(db: Connection, uuid: str) -> None:
    """Delete the record of an upload."""
    db.run(_DELETE_UPLOAD, dropped=uuid)


def add_blob(db: Connection, repository: ContainerRepository, received: ReceivedFile) -> ContainerBlob:
    """Add an uploaded blob to a repository; if it exists already, the upload is deleted."""
    digest = f"sha256:{received.sha256}"
    blob = blob_or_none(db, digest)
    if blob is not None:
        delete_stored_files(db, [received.storage_key])
    else:
        db.insert(
            container_blobs,
            digest=digest,
            size=received.size,
            storage_key=received.storage_key,
            created_at=db.now,
        )
        blob = blob_or_none(db, digest)
    if blob is None:
        raise NotFound("Blob")
    link_blob(db, repository, blob)
    return blob


def link_blob(db: Connection, repository: ContainerRepository, blob: ContainerBlob) -> None:
    """Link a blob to a repository."""
    if linked_blob_or_none(db, repository.id, blob.digest) is None:
        db.insert(container_blob_links, repository_id=repository.id, blob_id=blob.id, created_at=db.now)


def unlink_blob(db: Connection, repository: ContainerRepository, blob: ContainerBlob) -> None:
    """Remove a blob from a repository."""
    db.run(_DELETE_LINK, repository=repository.id, blob=blob.id)


def put_manifest(
    db: Connection, repository: ContainerRepository, parsed: ParsedManifest, tag: str | None
) -> ContainerManifest:
    """Store a manifest and let a tag name it; raise MissingParts if the repository lacks what it references."""
    missing = missing_digests(db, repository.id, parsed.blobs, parsed.children)
    if missing:
        raise MissingParts(missing)
    manifest = manifest_or_none(db, repository.id, parsed.digest)
    if manifest is None:
        manifest_id = db.insert(
            _manifests,
            repository_id=repository.id,
            digest=parsed.digest,
            media_type=parsed.media_type,
            artifact_type=parsed.artifact_type,
            subject=parsed.subject,
            config_digest=parsed.config_digest,
            total_size=parsed.total_size,
            content=parsed.content,
            created_at=db.now,
            updated_at=db.now,
        )
        referenced = dict.fromkeys((*parsed.blobs, *parsed.children))
        db.insert_many(container_references, [{"manifest_id": manifest_id, "digest": digest} for digest in referenced])
        manifest = manifest_or_none(db, repository.id, parsed.digest)
    else:
        db.update(_manifests, manifest.id, updated_at=db.now)
    if manifest is None:
        raise NotFound("Manifest")
    if tag is not None:
        _set_tag(db, repository, tag, manifest)
    db.update(container_repositories, repository.id, last_published_at=db.now)
    return manifest


def _set_tag(db: Connection, repository: ContainerRepository, name: str, manifest: ContainerManifest) -> None:
    tag = tag_or_none(db, repository.id, name)
    if tag is None:
        db.insert(
            container_tags,
            repository_id=repository.id,
            name=name,
            manifest_id=manifest.id,
            created_at=db.now,
            updated_at=db.now,
        )
    elif tag.manifest_id != manifest.id:
        # The previous manifest is deleted later, unless something references it.
        db.update(_manifests, tag.manifest_id, updated_at=db.now)
        db.update(container_tags, tag.id, manifest_id=manifest.id, updated_at=db.now)


def delete_tag(db: Connection, tag: ContainerTag) -> None:
    """Delete a tag; its manifest is deleted later, unless something references it."""
    db.update(_manifests, tag.manifest_id, updated_at=db.now)
    db.delete(container_tags, tag.id)


def delete_manifest(db: Connection, manifest: ContainerManifest) -> None:
    """Delete a manifest and its tags."""
    db.delete(_manifests, manifest.id)


def delete_repository(db: Connection, repository: ContainerRepository) -> None:
    """Delete a repository with its images; a job deletes the blobs that no other one has."""
    db.delete(container_repositories, repository.id)


def require_push_to_path(db: Connection, actor: Actor, access: Access, project: Project, name: str) -> None:
    """Raise Denied if a rule protects a path from pushes of the caller."""
    rules = _matching_rules(db, project, name)
    if caller_level(actor, access) < required_level([rule.push_level for rule in rules]):
        raise Denied("The container repository is protected.")


def require_deletion_at_path(db: Connection, actor: Actor, access: Access, project: Project, name: str) -> None:
    """Raise Denied if a rule protects a path from deletions by the caller."""
    rules = _matching_rules(db, project, name)
    if caller_level(actor, access) < required_level([rule.delete_level for rule in rules]):
        raise Denied("The container repository is protected.")


def _matching_rules(db: Connection, project: Project, name: str) -> list[ContainerProtectionRule]:
    path = repository_path(project.full_path, name)
    rules = db.all(ContainerProtectionRule, _RULES, project=project.id)
    return [rule for rule in rules if name_matches(rule.path_pattern, path)]


_ABANDONED_REPOSITORIES = delete(container_repositories).where(
    container_repositories.c.last_published_at.is_(None),
    container_repositories.c.created_at < bindparam("before"),
    ~exists().where(
        container_uploads.c.repository_id == container_repositories.c.id,
        container_uploads.c.created_at >= bindparam("before"),
    ),
)
_OLD_UPLOADS = delete(container_uploads).where(container_uploads.c.created_at < bindparam("before"))
_links = container_blob_links
_UNREFERENCED_LINKS = delete(_links).where(
    _links.c.created_at < bindparam("before"),
    ~exists().where(
        container_blobs.c.id == _links.c.blob_id,
        container_references.c.digest == container_blobs.c.digest,
        container_references.c.manifest_id == _manifests.c.id,
        _manifests.c.repository_id == _links.c.repository_id,
    ),
)
_UNUSED_BLOBS = (
    select(container_blobs)
    .where(
        container_blobs.c.created_at < bindparam("before"),
        ~exists().where(_links.c.blob_id == container_blobs.c.id),
    )
    .order_by(container_blobs.c.id)
    .limit(500)
)


def delete_unused_images(db: Connection, before: Timestamp) -> int:
    """Delete manifests without a tag, blobs without a manifest and unfinished uploads that are older.

    Return the number of deleted manifests and blobs; further ones may remain.
    """
    db.run(_OLD_UPLOADS, before=before)
    db.run(_ABANDONED_REPOSITORIES, before=before)
    unused = [manifest_id for (manifest_id,) in db.rows(_UNUSED_MANIFESTS, before=before)]
    for manifest_id in unused:
        db.delete(_manifests, manifest_id)
    db.run(_UNREFERENCED_LINKS, before=before)
    blobs = db.all(ContainerBlob, _UNUSED_BLOBS, before=before)
    for blob in blobs:
        db.delete(container_blobs, blob.id)
    delete_stored_files(db, [blob.storage_key for blob in blobs])
    return len(unused) + len(blobs)
