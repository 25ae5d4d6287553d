"""What is stored of namespaces, of their tree, and of who belongs where."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Date, Timestamp

namespaces = Table(
    "namespaces",
    metadata,
    row_id(),
    text("kind"),
    text("name"),
    text("path"),
    text("full_path"),
    text("full_name"),
    reference("owner_id", "users.id", nullable=True, unique=True),
    reference("parent_id", "namespaces.id", nullable=True, index=True),
    text("visibility"),
    text("description"),
    flag("lfs_enabled"),
    flag("request_access_enabled"),
    flag("share_with_group_lock"),
    text("project_creation_level", server_default="maintainer"),
    reference("avatar_id", "avatars.id", ondelete="SET NULL", nullable=True),
    text("avatar_file", nullable=True),
    text("created_at"),
    text("updated_at"),
    # Folded copies: unique and searchable whatever the case.
    text("full_path_key", unique=True),
    text("name_key"),
    # Names are told apart where they stand side by side; at the top it is paths that people know.
    UniqueConstraint("parent_id", "name"),
    sqlite_autoincrement=True,
)
# Lists walk along these, and look at nothing else until they know which rows they show.
Index("ix_namespaces_name_key", namespaces.c.kind, namespaces.c.name_key, namespaces.c.id, namespaces.c.visibility)
Index("ix_namespaces_visibility", namespaces.c.kind, namespaces.c.visibility, namespaces.c.id)

# Every namespace with itself and all above it: what is inherited is then one indexed join, however deep.
namespace_tree = Table(
    "namespace_tree",
    metadata,
    reference("ancestor_id", "namespaces.id", primary_key=True),
    reference("descendant_id", "namespaces.id", primary_key=True),
    Index("ix_namespace_tree_descendant_id", "descendant_id", "ancestor_id"),
)

# Where a path led before a rename or transfer; nobody else can take such a path.
path_redirects = Table(
    "path_redirects",
    metadata,
    row_id(),
    text("full_path_key", unique=True),
    reference("namespace_id", "namespaces.id", index=True),
    sqlite_autoincrement=True,
)

# The same tables for groups and projects, which live in a higher room.
SourceKind = Literal["group", "project"]

memberships = Table(
    "memberships",
    metadata,
    row_id(),
    text("source_kind"),
    number("source_id"),
    # The group itself, or the namespace in which the project lives: members of a project see the groups around it.
    reference("namespace_id", "namespaces.id"),
    reference("user_id", "users.id"),
    number("access_level"),
    number("notification_level"),
    text("expires_at", nullable=True),
    text("created_at"),
    reference("created_by_id", "users.id", ondelete="SET NULL", nullable=True),
    UniqueConstraint("source_kind", "source_id", "user_id"),
    Index(
        "ix_memberships_user_id", "user_id", "source_kind", "source_id", "access_level", "expires_at", "namespace_id"
    ),
    Index("ix_memberships_namespace_id", "namespace_id", "user_id"),
    Index("ix_memberships_expires_at", "expires_at"),
    sqlite_autoincrement=True,
)

# A group whose own members belong to another one, too: at most at this level, there and in all below it.
group_shares = Table(
    "group_shares",
    metadata,
    row_id(),
    reference("group_id", "namespaces.id"),
    reference("invited_id", "namespaces.id", index=True),
    number("group_access"),
    text("expires_at", nullable=True),
    text("created_at"),
    UniqueConstraint("group_id", "invited_id"),
    sqlite_autoincrement=True,
)

# What administrators note: exactly one of the two ids is set; those of users live with the users.
custom_attributes = Table(
    "custom_attributes",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True),
    reference("group_id", "namespaces.id", nullable=True),
    text("key"),
    text("value"),
    UniqueConstraint("project_id", "key"),
    UniqueConstraint("group_id", "key"),
    sqlite_autoincrement=True,
)

access_requests = Table(
    "access_requests",
    metadata,
    row_id(),
    text("source_kind"),
    number("source_id"),
    reference("namespace_id", "namespaces.id"),
    reference("user_id", "users.id"),
    text("requested_at"),
    UniqueConstraint("source_kind", "source_id", "user_id"),
    sqlite_autoincrement=True,
)


class Namespace(Record, frozen=True):
    """A path under which projects live: a user's own, or a group's."""

    id: int
    kind: str
    name: str
    path: str
    full_path: str
    full_name: str
    owner_id: int | None
    parent_id: int | None
    visibility: str
    description: str
    lfs_enabled: bool
    request_access_enabled: bool
    share_with_group_lock: bool
    project_creation_level: str
    avatar_id: int | None
    avatar_file: str | None
    created_at: Timestamp
    updated_at: Timestamp
    full_path_key: str
    name_key: str


class Membership(Record, frozen=True):
    """A user's level in one group or project, for everything below it too."""

    id: int
    source_kind: SourceKind
    source_id: int
    namespace_id: int
    user_id: int
    access_level: int
    notification_level: int
    expires_at: Date | None
    created_at: Timestamp
    created_by_id: int | None


class GroupShare(Record, frozen=True):
    """A group that was invited into another one, with what answers show of it."""

    id: int
    group_id: int
    invited_id: int
    group_access: int
    expires_at: Date | None
    created_at: Timestamp
    invited_name: str
    invited_full_path: str


class AccessRequest(Record, frozen=True):
    """Somebody who would like to belong."""

    id: int
    source_kind: SourceKind
    source_id: int
    namespace_id: int
    user_id: int
    requested_at: Timestamp
