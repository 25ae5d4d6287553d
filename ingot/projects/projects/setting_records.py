"""Record of changed settings of projects in the audit log, from any endpoint that changes some."""

from typing import Any

from ingot.accounts.audit_events.service import Entity, record_changes
from ingot.core.api.routes import Call
from ingot.core.db.connection import Connection
from ingot.projects.projects.attributes import FEATURE_LEVELS, STORED_AS_SENT
from ingot.projects.projects.feature_access import feature_level
from ingot.projects.projects.options import PRIVATE_FEATURES, project_ci_options, project_options
from ingot.projects.projects.ports import CiSettingsReader
from ingot.projects.projects.tables import Project

_COLUMNS = ("name", "path", "default_branch", "archived", *STORED_AS_SENT)
_SHOWN_AS_LEVELS = {*FEATURE_LEVELS.values(), "private_features"}


def record_project_changes(call: Call, before: Project, after: Project) -> None:
    """Record the settings that differ, under the names of the API."""
    record_project_values(call, after, _values(before), _values(after))


def record_project_values(call: Call, project: Project, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Record the values that differ, of settings that are stored elsewhere than in the project's row."""
    record_changes(call, Entity("Project", project.id, project.full_path), before, after)


def ci_values(db: Connection, project: Project) -> dict[str, Any]:
    """Return the settings for CI that are stored in a row of their own."""
    return db.ports[CiSettingsReader].read(db, project.id)._asdict()


def _values(project: Project) -> dict[str, Any]:
    options = project_options(project.options_document), project_ci_options(project.options_document)
    values = {name: getattr(project, name) for name in _COLUMNS}
    values |= {name: getattr(struct, name) for struct in options for name in struct.__struct_fields__}
    levels = {f"{feature}_access_level": feature_level(project, feature) for feature in PRIVATE_FEATURES}
    return {name: value for name, value in values.items() if name not in _SHOWN_AS_LEVELS} | levels
