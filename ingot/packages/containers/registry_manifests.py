"""Manifests in the registry protocol."""

import asyncio
from concurrent.futures import Executor

from ingot.core.api.request_fields import read_body
from ingot.core.api.responses import ApiResponse
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.http.body_budget import BodyBudget
from ingot.core.http.request import Request
from ingot.packages.containers import service
from ingot.packages.containers.manifests import DIGEST, MAX_MANIFEST_BYTES, TAG, parse_manifest
from ingot.packages.containers.queries import manifest_or_none, tag_or_none
from ingot.packages.containers.registry_access import authorize
from ingot.packages.containers.registry_errors import API_VERSION, RegistryError
from ingot.packages.containers.tables import ContainerManifest


class RegistryManifests:
    """Manifests of repositories by tag and digest."""

    def __init__(self, database: Database, pool: Executor, bodies: BodyBudget) -> None:
        self._database = database
        self._pool = pool
        self._bodies = bodies

    async def get(self, request: Request, name: str, reference: str) -> ApiResponse:
        """Return a manifest."""

        def work(db: Connection) -> ContainerManifest:
            repository = authorize(db, request, name, "pull").repository
            manifest = None if repository is None else manifest_or_none(db, repository.id, reference)
            if manifest is None:
                raise RegistryError(404, "MANIFEST_UNKNOWN", "manifest unknown")
            return manifest

        manifest = await asyncio.get_running_loop().run_in_executor(self._pool, self._database.read, work)
        headers = [
            (b"content-type", manifest.media_type.encode()),
            (b"docker-content-digest", manifest.digest.encode()),
            (b"etag", f'"{manifest.digest}"'.encode()),
            API_VERSION,
        ]
        return ApiResponse(200, manifest.content, headers)

    async def put(self, request: Request, name: str, reference: str) -> ApiResponse:
        """Store a manifest under its digest and, if the reference is one, under a tag."""
        by_digest = DIGEST.fullmatch(reference) is not None
        if not by_digest and not TAG.fullmatch(reference):
            raise RegistryError(400, "TAG_INVALID", "the tag or digest is invalid")
        loop = asyncio.get_running_loop()
        # Before the body is read, so that callers without permission cannot make the server keep it.
        await loop.run_in_executor(self._pool, self._database.read, lambda db: authorize(db, request, name, "push"))
        content = await self._read_content(request)
        parsed = parse_manifest(content, _media_type(request))
        if by_digest and parsed.digest != reference:
            raise RegistryError(400, "DIGEST_INVALID", "the content does not match the digest")

        def work(db: Connection) -> None:
            image = authorize(db, request, name, "push")
            repository = service.find_or_create_repository(db, image.project, image.name)
            service.put_manifest(db, repository, parsed, None if by_digest else reference)

        await loop.run_in_executor(self._pool, self._database.write, work)
        headers = [
            (b"location", f"/v2/{name}/manifests/{parsed.digest}".encode()),
            (b"docker-content-digest", parsed.digest.encode()),
            API_VERSION,
        ]
        if parsed.subject is not None:
            headers.append((b"oci-subject", parsed.subject.encode()))
        return ApiResponse(201, b"", headers)

    async def _read_content(self, request: Request) -> bytes:
        pieces = []
        with self._bodies.charge(request.origin.ip) as charge:
            async for piece in read_body(request.receive, request.headers, MAX_MANIFEST_BYTES):
                await charge.add(len(piece))
                pieces.append(piece)
            return b"".join(pieces)

    async def delete(self, request: Request, name: str, reference: str) -> ApiResponse:
        """Delete a manifest with its tags by its digest, or a tag alone."""

        def work(db: Connection) -> None:
            repository = authorize(db, request, name, "delete").repository
            manifest = None if repository is None else manifest_or_none(db, repository.id, reference)
            if repository is None or manifest is None:
                raise RegistryError(404, "MANIFEST_UNKNOWN", "manifest unknown")
            tag = None if ":" in reference else tag_or_none(db, repository.id, reference)
            if tag is not None:
                service.delete_tag(db, tag)
            else:
                service.delete_manifest(db, manifest)

        await asyncio.get_running_loop().run_in_executor(self._pool, self._database.write, work)
        return ApiResponse(202, b"", [API_VERSION])


def _media_type(request: Request) -> str:
    return request.headers.get(b"content-type", b"").split(b";")[0].strip().decode("latin-1").lower()
