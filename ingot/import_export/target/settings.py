"""Storage of the settings of a project: attributes, topics and avatar."""

import io
from collections.abc import Sequence
from typing import Any

from ingot.accounts.avatars.service import MAX_BYTES, replace_avatar
from ingot.accounts.instance.settings import current_settings
from ingot.core.api.params import ParamsReader, Upload
from ingot.core.errors import Invalid
from ingot.core.events.bus import emit
from ingot.import_export.records import SettingsRecord
from ingot.import_export.source import GroupSource, ProjectSource
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import moment_or_none
from ingot.projects.groups.service import VISIBILITY_ORDER
from ingot.projects.namespaces.queries import namespace_by_id
from ingot.projects.projects.attributes import (
    ci_settings_from_params,
    columns_from_params,
    options_from_params,
    validate_project,
)
from ingot.projects.projects.events import ProjectCiSettingsEdited
from ingot.projects.projects.params import EditProject
from ingot.projects.projects.service import set_default_branch
from ingot.projects.projects.tables import projects
from ingot.projects.projects.topics import set_topics

# The importing user chose the name and the path; the others have fields of their own or are not imported.
_OMITTED = {"name", "path", "avatar", "topics", "tag_list", "default_branch", "visibility", "repository_storage"}
_ATTRIBUTES = frozenset(EditProject.__struct_fields__) - _OMITTED
_READER = ParamsReader(EditProject)


def read_avatar(source: ProjectSource | GroupSource, link: str | None) -> bytes | None:
    """Read an avatar from the source; None if there is none or a larger one than can be stored."""
    opened = source.open_file(link) if link else None
    if opened is None:
        return None
    with opened as file:
        content = file.read(MAX_BYTES + 1)
    return content if len(content) <= MAX_BYTES else None


def store_settings(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store the settings; attributes that are not valid here are left out and reported."""
    record: SettingsRecord = changes[0].record
    db, project = context.db, context.project
    columns: dict[str, Any] = {"archived": record.archived, "updated_at": db.now}
    columns |= _visibility(context, record.attributes.get("visibility"))
    params = _valid_params(context, dict(record.attributes))
    columns |= columns_from_params(params)
    columns["options_document"] = options_from_params(params, project.options_document, db.now)
    created_at = moment_or_none(record.created_at)
    if created_at is not None:
        columns["created_at"] = created_at
    db.update(projects, project.id, **columns)
    ci_settings = ci_settings_from_params(params)
    if ci_settings:
        emit(db, ProjectCiSettingsEdited(project.id, ci_settings))
    _set_topics(context, record.topics)
    _set_avatar(context, record)
    _set_default_branch(context, record.attributes.get("default_branch"))
    return {changes[0].key: project.id}


def _valid_params(context: StoreContext, attributes: dict[str, Any]) -> EditProject:
    """Return the attributes that a project of this instance can have."""
    project = context.project
    given = {name: value for name, value in attributes.items() if name in _ATTRIBUTES}
    while given:
        try:
            params: EditProject = _READER.read(given)
            validate_project(project.name, project.path, columns_from_params(params))
            options_from_params(params, project.options_document, context.db.now)
        except Invalid as error:
            invalid = error.errors.keys() & given.keys() or given.keys()
            context.problem(f"These settings were left out, because they are not valid here: {error}.")
            given = {name: value for name, value in given.items() if name not in invalid}
        else:
            return params
    return EditProject()


def _visibility(context: StoreContext, visibility: object) -> dict[str, str]:
    """Return the visibility of the source, lowered to that of the group, and private if it is restricted."""
    if visibility not in VISIBILITY_ORDER:
        return {}
    namespace = namespace_by_id(context.db, context.project.namespace_id)
    chosen = str(visibility)
    if namespace.kind == "group":
        chosen = min(chosen, namespace.visibility, key=VISIBILITY_ORDER.__getitem__)
    if chosen in current_settings(context.db).restricted_visibility_levels:
        chosen = "private"
    if chosen != visibility:
        context.problem(f"The project is {chosen} instead of {visibility}, as its group or this instance requires.")
    return {"visibility": chosen}


def _set_topics(context: StoreContext, topics: Sequence[str]) -> None:
    try:
        set_topics(context.db, context.project, EditProject(topics=list(topics)))
    except Invalid as error:
        context.problem(f"The topics of the project were left out: {error}.")


def _set_avatar(context: StoreContext, record: SettingsRecord) -> None:
    content = context.preparation.avatar
    if not record.avatar or content is None:
        if record.avatar:
            context.problem("The avatar of the project is not available at the source or too large.")
        return
    upload = Upload("avatar", "", io.BytesIO(content))
    try:
        replace_avatar(context.db, projects, context.project.id, context.project.avatar_id, upload)
    except Invalid as error:
        context.problem(f"The avatar of the project was left out: {error}.")


def _set_default_branch(context: StoreContext, branch: object) -> None:
    if not isinstance(branch, str) or not branch or branch == context.project.default_branch:
        return
    try:
        set_default_branch(context.db, context.project, context.files.repositories, branch)
    except Invalid:
        context.problem(f"The default branch {branch!r} does not exist.")
