"""Response structs of npm packages."""

from typing import Any
from urllib.parse import quote

import msgspec

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.packages.records.queries import files_of, tags_of
from ingot.packages.records.tables import Package


class NpmPackageView(View):
    """Versions and tags of a package, as npm reads them."""

    name: str
    versions: dict[str, dict[str, Any]]
    tags: dict[str, str] = msgspec.field(name="dist-tags")


class _Properties(msgspec.Struct):
    package_json: dict[str, Any] = {}
    integrity: str = ""


def npm_package_view(db: Connection, name: str, packages: list[Package], base_url: str) -> NpmPackageView:
    """Return the versions of a package, with a fixed number of statements."""
    ids = [package.id for package in packages]
    files = {file.package_id: file for file in files_of(db, ids)}
    versions: dict[str, dict[str, Any]] = {}
    for package in packages:
        file = files.get(package.id)
        if file is None:
            continue
        properties = msgspec.json.decode(package.properties, type=_Properties)
        path = f"projects/{package.project_id}/packages/npm/{quote(name, safe='@/')}/-/{quote(file.file_name)}"
        dist = {"shasum": file.sha1, "tarball": f"{base_url}/api/v4/{path}", "integrity": properties.integrity}
        identity = {"name": package.name, "version": package.version, "dist": dist}
        versions[package.version] = {**properties.package_json, **identity}
    return NpmPackageView(name, versions, npm_tags(db, packages))


def npm_tags(db: Connection, packages: list[Package]) -> dict[str, str]:
    """Return the version of each tag; ``latest`` is the newest version if it was deleted.

    A tag that several projects have is the one of the project that published the package first.
    """
    versions = {package.id: package.version for package in packages}
    tags: dict[str, str] = {}
    for tag in sorted(tags_of(db, list(versions)), key=lambda tag: tag.project_id != packages[0].project_id):
        tags.setdefault(tag.name, versions[tag.package_id])
    newest = max(packages, key=lambda package: package.id)
    return {"latest": newest.version, **tags}
