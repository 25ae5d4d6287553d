"""State changes of npm packages and their tags."""

from collections.abc import Sequence

import msgspec

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Invalid
from ingot.packages.npm.publications import NpmDeprecation, NpmPublication
from ingot.packages.npm.queries import project_of_package, tag_or_none
from ingot.packages.records.queries import package_by_version
from ingot.packages.records.service import add_file, find_or_create_package
from ingot.packages.records.tables import Package, package_tags, packages
from ingot.projects.projects.tables import Project

MAX_TAG_LENGTH = 255


def publish_package(db: Connection, actor: Actor, project: Project, publication: NpmPublication) -> Package:
    """Add a version; raise Denied if it exists, or if another project of the namespace has the package."""
    name, version = publication.name, publication.version
    if package_by_version(db, project.id, "npm", name, version) is not None:
        raise Denied("Package already exists.")
    scope = name.partition("/")[0].removeprefix("@").lower() if name.startswith("@") else None
    if scope == project.full_path_key.partition("/")[0] and project_of_package(db, name) not in (None, project.id):
        raise Denied("Package already exists.")
    properties = {"package_json": publication.package_json, "integrity": publication.integrity}
    package = find_or_create_package(db, actor, project, "npm", name, version, properties=properties)
    add_file(db, package, publication.file_name, publication.received)
    for tag in publication.tags or ("latest",):
        set_tag(db, project, package, tag)
    return package


def deprecate_versions(db: Connection, versions: Sequence[Package], deprecation: NpmDeprecation) -> None:
    """Set or remove the messages of deprecated versions; nothing else of a published version changes."""
    for package in versions:
        message = deprecation.messages.get(package.version)
        properties = msgspec.json.decode(package.properties)
        details = properties.get("package_json", {})
        if message is None or details.get("deprecated", "") == message:
            continue
        others = {key: value for key, value in details.items() if key != "deprecated"}
        properties["package_json"] = {**others, "deprecated": message} if message else others
        document = msgspec.json.encode(properties).decode()
        db.update(packages, package.id, properties=document, updated_at=db.now)


def set_tag(db: Connection, project: Project, package: Package, name: str) -> None:
    """Let a tag name this version of the package."""
    if not name.strip() or len(name) > MAX_TAG_LENGTH or "\0" in name:
        raise Invalid(tag=["is invalid"])
    tag = tag_or_none(db, project.id, package.name, name)
    if tag is not None:
        db.update(package_tags, tag.id, package_id=package.id)
    else:
        db.insert(package_tags, project_id=project.id, package_name=package.name, name=name, package_id=package.id)
