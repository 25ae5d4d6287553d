"""Bodies of ``npm publish``: a JSON document that contains the package in base64.

The document may be larger than the memory that a request should take, so it is received as a file, and long base64
texts are decoded from there.
"""

import asyncio
import base64
import binascii
import mmap
import re
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import msgspec

from ingot.ci.artifacts.store import ArtifactTooLarge
from ingot.core.api.request_fields import BadRequest, read_body
from ingot.core.api.routes import BodyContext
from ingot.core.errors import Invalid
from ingot.packages.files.store import IncomingPackageFile, ReceivedFile, package_store_of
from ingot.packages.files.uploads import TOO_LARGE, publish, write_pieces
from ingot.packages.records.upload_access import allowed_upload_bytes

MAX_DOCUMENT_BYTES = 8 * 2**20
"""Size of a document without long base64 texts."""
MAX_PROPERTIES_BYTES = 100_000
MAX_MESSAGE_LENGTH = 10_000
_LONG_TEXT = re.compile(rb'"([A-Za-z0-9+/]{16384,}={0,2})"')
_PLACEHOLDER = re.compile(r"\x01(\d+)-(\d+)")
_DECODED_BYTES = 3 * 2**18
_NAME = re.compile(r"(@[A-Za-z0-9._~-]+/)?[A-Za-z0-9._~+-]+")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.+-]*")
_INSTALLED_FIELDS = {
    *("name", "version", "deprecated", "dependencies", "optionalDependencies", "devDependencies", "bundleDependencies"),
    *("peerDependencies", "peerDependenciesMeta", "bin", "directories", "engines", "os", "cpu", "_hasShrinkwrap"),
}


class NpmPublication(NamedTuple):
    """A published version."""

    name: str
    version: str
    tags: tuple[str, ...]
    file_name: str
    package_json: dict[str, Any]
    integrity: str
    received: ReceivedFile


class NpmDeprecation(NamedTuple):
    """The messages of deprecated versions, which ``npm deprecate`` sends with all versions; an empty one removes it."""

    name: str
    messages: dict[str, str]


class _Document(msgspec.Struct):
    name: str
    versions: dict[str, dict[str, Any]] = {}
    attachments: dict[str, dict[str, Any]] = msgspec.field(name="_attachments", default_factory=dict)
    tags: dict[str, str] = msgspec.field(name="dist-tags", default_factory=dict)


async def receive_npm_package(context: BodyContext) -> NpmPublication | NpmDeprecation:
    """Store the package in a body after the permission was checked; verify its digests.

    A body without a package changes the deprecation of existing versions.
    """
    name = context.path["package_name"]
    limit = await allowed_upload_bytes(context, lambda settings: settings.npm_max_file_size, "npm", name)
    store = package_store_of(context.settings)
    body = store.receive_file(limit * 4 // 3 + MAX_DOCUMENT_BYTES, ())
    package = store.receive_file(limit, ("sha256", "sha1", "sha512"))
    try:
        pieces = read_body(context.receive, context.headers, 2**62, streamed=True)
        await write_pieces(body, pieces)
        document, version = await asyncio.to_thread(partial(_extract, body.content, body.size, name, package))
        if not document.attachments:
            return _deprecation(document)
        received = await publish(context, store, package)
        return _publication(document, version, package, received)
    except ArtifactTooLarge:
        raise BadRequest(413, TOO_LARGE) from None
    finally:
        body.close()
        package.close()


def _extract(file: BinaryIO, size: int, name: str, package: IncomingPackageFile) -> tuple[_Document, str]:
    """Return the document and its version; decode the package, if there is one."""
    if not size:
        raise BadRequest(400, "400 (Bad request) the body is not valid JSON")
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        document = _parse(content)
        if document.name != name:
            raise Invalid(package_name=["does not match the path"])
        if not document.attachments and any("deprecated" in details for details in document.versions.values()):
            return document, ""
        if len(document.versions) != 1 or len(document.attachments) != 1:
            raise Invalid("400 (Bad request) A body must contain one version and its package")
        version, details = next(iter(document.versions.items()))
        data = next(iter(document.attachments.values())).get("data")
        if not isinstance(data, str) or not data:
            raise Invalid("400 (Bad request) The package is missing")
        _decode(content, data, package)
    dist = details.get("dist")
    _verify(dist if isinstance(dist, dict) else {}, package)
    if not _NAME.fullmatch(name) or not _VERSION.fullmatch(version) or len(name) + len(version) > 255:
        raise Invalid("400 (Bad request) The name or version of the package is invalid")
    return document, version


def _parse(content: mmap.mmap) -> _Document:
    """Parse the document; long base64 texts are replaced by their positions."""
    parts, end = [], 0
    for match in _LONG_TEXT.finditer(content):
        parts += [content[end : match.start()], b'"\\u0001%d-%d"' % match.span(1)]
        end = match.end()
    parts.append(content[end : min(len(content), end + MAX_DOCUMENT_BYTES + 1)])
    document = b"".join(parts)
    if len(document) > MAX_DOCUMENT_BYTES:
        raise BadRequest(413, TOO_LARGE)
    try:
        return msgspec.json.decode(document, type=_Document)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadRequest(400, "400 (Bad request) the body is not a package in JSON") from error


def _decode(content: mmap.mmap, data: str, package: IncomingPackageFile) -> None:
    position = _PLACEHOLDER.fullmatch(data)
    try:
        if position is None:
            package.write(base64.b64decode(data, validate=True))
            return
        start, stop = int(position[1]), int(position[2])
        for offset in range(start, stop, 4 * _DECODED_BYTES // 3):
            piece = content[offset : min(offset + 4 * _DECODED_BYTES // 3, stop)]
            package.write(base64.b64decode(piece, validate=True))
    except (binascii.Error, ValueError):
        raise Invalid("400 (Bad request) The package is not valid base64") from None


def _verify(dist: dict[str, Any], package: IncomingPackageFile) -> None:
    if dist.get("shasum") not in (None, package.digest("sha1")):
        raise Invalid("400 (Bad request) The package does not match its shasum")
    if str(dist.get("integrity", "")).startswith("sha512-") and dist["integrity"] != _integrity(package):
        raise Invalid("400 (Bad request) The package does not match its integrity")


def _integrity(package: IncomingPackageFile) -> str:
    return "sha512-" + base64.b64encode(bytes.fromhex(package.digest("sha512") or "")).decode()


def _deprecation(document: _Document) -> NpmDeprecation:
    messages = {
        version: details["deprecated"] for version, details in document.versions.items() if "deprecated" in details
    }
    if not all(isinstance(message, str) and len(message) <= MAX_MESSAGE_LENGTH for message in messages.values()):
        raise Invalid("400 (Bad request) The message of a deprecated version is invalid")
    return NpmDeprecation(document.name, messages)


def _publication(
    document: _Document, version: str, package: IncomingPackageFile, received: ReceivedFile
) -> NpmPublication:
    details = {key: value for key, value in document.versions[version].items() if key != "dist"}
    if len(msgspec.json.encode(details)) > MAX_PROPERTIES_BYTES:
        details = {key: value for key, value in details.items() if key in _INSTALLED_FIELDS}
    if len(msgspec.json.encode(details)) > MAX_PROPERTIES_BYTES:
        raise Invalid("400 (Bad request) The description of the package is too long")
    file_name = f"{document.name.rpartition('/')[2]}-{version}.tgz"
    tags = tuple(tag for tag, tagged in document.tags.items() if tagged == version and tag)
    return NpmPublication(document.name, version, tags, file_name, details, _integrity(package), received)
