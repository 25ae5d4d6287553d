"""Manifests of container images, as clients send them."""

import hashlib
import re
from typing import Any, NamedTuple

import msgspec

from ingot.core.errors import Invalid

MAX_MANIFEST_BYTES = 4 * 2**20
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
IMAGE_INDEX = "application/vnd.oci.image.index.v1+json"
INDEX_TYPES = (IMAGE_INDEX, "application/vnd.docker.distribution.manifest.list.v2+json")
MANIFEST_TYPES = (
    *INDEX_TYPES,
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_FOREIGN_TYPES = re.compile(r"application/vnd\.(oci\.image\.layer\.nondistributable|docker\.image\.rootfs\.foreign)\.")


class Descriptor(msgspec.Struct):
    """Type, digest and size of a blob or manifest."""

    digest: str
    size: int = 0
    media_type: str = msgspec.field(name="mediaType", default="")
    urls: list[str] = []


class _Document(msgspec.Struct):
    schema: int = msgspec.field(name="schemaVersion")
    media_type: str | None = msgspec.field(name="mediaType", default=None)
    artifact_type: str | None = msgspec.field(name="artifactType", default=None)
    config: Descriptor | None = None
    layers: list[Descriptor] | None = None
    manifests: list[Descriptor] | None = None
    subject: Descriptor | None = None
    annotations: dict[str, str] | None = None


class ParsedManifest(NamedTuple):
    """The parts of a manifest that the registry needs."""

    digest: str
    media_type: str
    artifact_type: str | None
    subject: str | None
    config_digest: str | None
    blobs: tuple[str, ...]
    """Digests that must exist as blobs of the repository."""
    children: tuple[str, ...]
    """Digests that must exist as manifests of the repository."""
    total_size: int
    content: bytes


def parse_manifest(content: bytes, media_type: str) -> ParsedManifest:
    """Parse a manifest; raise Invalid if it is malformed."""
    try:
        document = msgspec.json.decode(content, type=_Document)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise Invalid("The manifest is not valid JSON of a manifest") from None
    kind = media_type or document.media_type or ""
    if kind not in MANIFEST_TYPES or document.schema != 2 or document.media_type not in (None, kind):
        raise Invalid("The media type of the manifest is not supported")
    if kind in INDEX_TYPES:
        blobs, children = [], document.manifests or []
    else:
        if document.config is None:
            raise Invalid("The manifest has no configuration")
        blobs, children = [document.config, *(document.layers or [])], []
    referenced = [*blobs, *children, *([document.subject] if document.subject else [])]
    if not all(DIGEST.fullmatch(each.digest) and each.size >= 0 for each in referenced):
        raise Invalid("The manifest contains an invalid digest or size")
    stored = [blob for blob in blobs if not _FOREIGN_TYPES.match(blob.media_type)]
    config = document.config
    artifact_type = document.artifact_type or (config.media_type if config and kind not in INDEX_TYPES else None)
    return ParsedManifest(
        digest_of(content),
        kind,
        artifact_type or None,
        document.subject.digest if document.subject else None,
        config.digest if config else None,
        tuple(dict.fromkeys(blob.digest for blob in stored)),
        tuple(dict.fromkeys(child.digest for child in children)),
        min(len(content) + sum(each.size for each in (*blobs, *children)), 2**62),
        content,
    )


def annotations_of(content: bytes) -> dict[str, Any] | None:
    """Return the annotations of a stored manifest."""
    return msgspec.json.decode(content, type=_Document).annotations


def digest_of(content: bytes) -> str:
    """Return the digest of a content as images name it."""
    return "sha256:" + hashlib.sha256(content).hexdigest()
