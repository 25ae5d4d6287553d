"""Response structs of packages and their files."""

from collections import defaultdict
from typing import Literal

from msgspec import UNSET, UnsetType, field

from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.packages.records.queries import project_paths, tags_of, versions_of
from ingot.packages.records.tables import Package, PackageFile


class PackageLinks(View):
    """Addresses of a package."""

    web_path: str
    delete_api_path: str | UnsetType = UNSET


class PackageTagView(View):
    """A name of a version, such as ``latest``."""

    id: int
    package_id: int
    name: str


class PackageVersionView(View):
    """Another version of a package."""

    id: int
    version: str | None
    created_at: Timestamp
    tags: list[PackageTagView]


class PackageView(View):
    """A version of a package."""

    id: int
    name: str
    version: str | None
    package_type: str
    status: str
    links: PackageLinks = field(name="_links")
    created_at: Timestamp
    last_downloaded_at: Timestamp | None
    tags: list[PackageTagView]
    creator_id: int | None
    project_id: int | UnsetType = UNSET
    project_path: str | UnsetType = UNSET
    versions: list[PackageVersionView] | UnsetType = UNSET


class PackageFileView(View):
    """A file of a package."""

    id: int
    package_id: int
    created_at: Timestamp
    file_name: str
    size: int
    file_md5: str | None
    file_sha1: str | None
    file_sha256: str


class StoredFileUrl(View):
    """Address of a file."""

    url: str


class StoredFileView(PackageFileView):
    """A file of a package after its upload."""

    updated_at: Timestamp
    file_store: int
    status: Literal["default"]
    file: StoredFileUrl


class MessageView(View):
    """A message."""

    message: str


def package_views(
    db: Connection,
    actor: Actor,
    packages: list[Package],
    base_url: str,
    *,
    deletable: bool = False,
    in_group: bool = False,
) -> list[PackageView]:
    """Return the views of packages, with a fixed number of statements."""
    paths = project_paths(db, sorted({package.project_id for package in packages}))
    tags = _tags(db, packages)
    views = []
    for package in packages:
        path = paths.get(package.project_id, "")
        url = f"{base_url}/api/v4/projects/{package.project_id}/packages/{package.id}"
        links = PackageLinks(f"/{path}/-/packages/{package.id}", url if deletable or actor.admin else UNSET)
        views.append(
            PackageView(
                package.id,
                package.name,
                package.version or None,
                package.package_type,
                package.status,
                links,
                package.created_at,
                package.last_downloaded_at,
                tags[package.id],
                package.creator_id,
                package.project_id if in_group else UNSET,
                path if in_group else UNSET,
            )
        )
    return views


def package_view(db: Connection, actor: Actor, package: Package, base_url: str, *, deletable: bool) -> PackageView:
    """Return the view of a package with its other versions."""
    view = package_views(db, actor, [package], base_url, deletable=deletable)[0]
    others = [other for other in versions_of(db, package) if other.id != package.id]
    tags = _tags(db, others)
    view.versions = [
        PackageVersionView(other.id, other.version or None, other.created_at, tags[other.id]) for other in others
    ]
    return view


def _tags(db: Connection, packages: list[Package]) -> defaultdict[int, list[PackageTagView]]:
    tags: defaultdict[int, list[PackageTagView]] = defaultdict(list)
    for tag in tags_of(db, [package.id for package in packages if package.package_type == "npm"]):
        tags[tag.package_id].append(PackageTagView(tag.id, tag.package_id, tag.name))
    return tags


def file_view(file: PackageFile) -> PackageFileView:
    """Return the view of a file."""
    return PackageFileView(
        file.id, file.package_id, file.created_at, file.file_name, file.size, file.md5, file.sha1, file.sha256
    )


def stored_file_view(file: PackageFile, url: str) -> StoredFileView:
    """Return the view of a file after its upload."""
    return StoredFileView(
        file.id,
        file.package_id,
        file.created_at,
        file.file_name,
        file.size,
        file.md5,
        file.sha1,
        file.sha256,
        file.created_at,
        1,
        "default",
        StoredFileUrl(url),
    )
