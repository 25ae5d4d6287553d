"""Publishing of a release: its components are read from the repository, then recorded in one transaction."""

import re
from collections.abc import Iterator
from typing import Any

from ingot.ci.catalog.queries import resource_or_none
from ingot.ci.catalog.semver import parse_version_or_none
from ingot.ci.catalog.service import ComponentSpec, add_version
from ingot.ci.catalog.tables import ComponentInput
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.inputs import input_specs
from ingot.ci.config.yaml_loader import load_documents
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, NotFound
from ingot.git.core.repository import Repository
from ingot.git.history.commits import tag_tip
from ingot.git.trees.blobs import read_blob
from ingot.git.trees.entries import FOLDER, SUBMODULE, TreeEntry, entry_or_none
from ingot.git.trees.listing import list_tree
from ingot.repositories.context import RepositoryContext
from ingot.repositories.tags.queries import find_release
from ingot.repositories.tags.service import require_may_release
from ingot.repositories.tags.tables import Release

MAX_COMPONENTS = 30
_MAX_ENTRIES = 1_000
"""Entries of the folder ``templates`` that are looked at."""
_README = b"README.md"
_FOLDER = b"templates"
_NAME = re.compile(rb"[A-Za-z0-9_-]+")


def publish_version(database: Database, actor: Actor, context: RepositoryContext, tag: str) -> None:
    """Publish the release of a tag in the catalog; raise Conflict with the reason if it cannot be published."""
    project = context.project

    def find(db: Connection) -> Release:
        release = find_release(db, project.id, tag)
        require_may_release(db, actor, context.access, project, tag)
        if resource_or_none(db, project.id) is None:
            raise Conflict("Project is not a catalog resource")
        if release.author_id != actor.user_id:
            raise Conflict("Published by must be the same as the release author")
        return release

    release = database.read(find)
    semver = parse_version_or_none(tag)
    if semver is None:
        raise Conflict("Version must be a semantic version, such as 1.0.0")
    sha = tag_tip(context.repository, tag)
    if sha is None:
        raise NotFound("Tag")
    problems = [] if project.description else ["Project must have a description"]
    readme = entry_or_none(context.repository, sha, _README)
    if readme is None or readme.mode in (FOLDER, SUBMODULE):
        problems.insert(0, "Project must have a README")
    files = dict(_component_files(context.repository, sha))
    if not files:
        problems.append("Project must contain components. Ensure you are using the correct directory structure")
    if len(files) > MAX_COMPONENTS:
        problems.append(f"Release cannot contain more than {MAX_COMPONENTS} components")
    if problems or readme is None:
        raise Conflict(", ".join(problems))
    text = _text(context.repository, readme)
    components = [_component(name, _text(context.repository, entry)) for name, entry in sorted(files.items())]
    database.write(lambda db: add_version(db, actor, project, release, sha, semver, text, components))


def _component_files(repository: Repository, sha: str) -> Iterator[tuple[str, TreeEntry]]:
    """Yield the names and files of components; of two with the same name, the single file comes last and counts."""
    page = list_tree(repository, sha, _FOLDER, 0, _MAX_ENTRIES)
    for entry in () if page is None else page.entries:
        name = entry.path.rpartition(b"/")[2]
        if entry.mode == FOLDER and _NAME.fullmatch(name):
            template = entry_or_none(repository, sha, entry.path + b"/template.yml")
            if template is not None and template.mode not in (FOLDER, SUBMODULE):
                yield name.decode(), template
        elif entry.mode not in (FOLDER, SUBMODULE) and name.endswith(b".yml") and _NAME.fullmatch(name[:-4]):
            yield name[:-4].decode(), entry


def _text(repository: Repository, entry: TreeEntry) -> str:
    body = read_blob(repository, entry.oid).body
    path = entry.path.decode(errors="replace")
    if body is None:
        raise Conflict(f"{path} is too large")
    text = body.decode(errors="replace")
    if "\0" in text:
        raise Conflict(f"{path} is not a text")
    return text


def _component(name: str, text: str) -> ComponentSpec:
    try:
        documents = load_documents(text)
    except ConfigError as error:
        raise Conflict(f"Component {name}: {'; '.join(error.messages)}") from error
    header: Any = documents[0] if len(documents) > 1 else None
    spec = header.get("spec") if isinstance(header, dict) else None
    declared = spec.get("inputs") if isinstance(spec, dict) else None
    specs = input_specs(documents)
    if len(specs) != (len(declared) if isinstance(declared, dict) else 0 if declared is None else 1):
        raise Conflict(f"Component {name}: spec:inputs is not valid")
    description = spec.get("description") if isinstance(spec, dict) else None
    inputs = [
        ComponentInput(
            each.name,
            each.kind,
            each.required,
            each.default,
            each.description or None,
            list(each.options) or None,
            each.regex or None,
        )
        for each in specs
    ]
    return ComponentSpec(name, description if isinstance(description, str) else None, inputs)
