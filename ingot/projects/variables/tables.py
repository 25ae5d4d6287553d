"""Table and record of variables."""

from typing import Literal

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, flag, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

VariableType = Literal["env_var", "file"]

variables = Table(
    "variables",
    metadata,
    row_id(),
    # The owner ("project 1", "group 2" or "instance"): unique constraints ignore rows with a NULL id.
    text("place"),
    reference("project_id", "projects.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    text("key"),
    text("environment_scope"),
    binary("sealed_value"),
    text("variable_type"),
    flag("protected"),
    flag("masked"),
    flag("hidden"),
    flag("raw"),
    text("description", nullable=True),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("place", "key", "environment_scope"),
    sqlite_autoincrement=True,
)


class Variable(Record, frozen=True):
    """Value with a key, limited to the environments that match its scope."""

    id: int
    place: str
    project_id: int | None
    group_id: int | None
    key: str
    environment_scope: str
    sealed_value: bytes
    variable_type: VariableType
    protected: bool
    masked: bool
    hidden: bool
    raw: bool
    description: str | None
    created_at: Timestamp
    updated_at: Timestamp
