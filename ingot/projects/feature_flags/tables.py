"""Tables and records of feature flags, their strategies and scopes, and lists of users."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

project_flags = Table(
    "project_feature_flags",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    text("description", nullable=True),
    flag("active"),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)

feature_flag_user_lists = Table(
    "feature_flag_user_lists",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    number("iid"),
    text("name"),
    # Ids that an application gives its users, separated by commas.
    text("user_xids"),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("project_id", "iid"),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)

feature_flag_strategies = Table(
    "feature_flag_strategies",
    metadata,
    row_id(),
    reference("flag_id", "project_feature_flags.id", index=True),
    text("name"),
    # A JSON object.
    text("parameters"),
    reference("user_list_id", "feature_flag_user_lists.id", nullable=True, index=True),
    sqlite_autoincrement=True,
)

feature_flag_scopes = Table(
    "feature_flag_scopes",
    metadata,
    row_id(),
    reference("strategy_id", "feature_flag_strategies.id"),
    text("environment_scope"),
    UniqueConstraint("strategy_id", "environment_scope"),
    sqlite_autoincrement=True,
)

feature_flag_settings = Table(
    "feature_flag_settings",
    metadata,
    row_id(),
    reference("project_id", "projects.id", unique=True),
    # Incremented to replace the instance id with which clients authenticate.
    number("client_version"),
    number("last_list_iid"),
    sqlite_autoincrement=True,
)


class ProjectFlag(Record, frozen=True):
    """A feature flag."""

    id: int
    project_id: int
    name: str
    description: str | None
    active: bool
    created_at: Timestamp
    updated_at: Timestamp


class UserList(Record, frozen=True):
    """A list of the users of an application."""

    id: int
    project_id: int
    iid: int
    name: str
    user_xids: str
    created_at: Timestamp
    updated_at: Timestamp


class FlagStrategy(Record, frozen=True):
    """A condition under which a flag is enabled; ``parameters`` is a JSON object."""

    id: int
    flag_id: int
    name: str
    parameters: str
    user_list_id: int | None


class FlagScope(Record, frozen=True):
    """Environments to which a strategy applies; ``*`` stands for any text."""

    id: int
    strategy_id: int
    environment_scope: str


class FlagSettings(Record, frozen=True):
    """State of the feature flags of a project that has no row of its own."""

    id: int
    project_id: int
    client_version: int
    last_list_iid: int
