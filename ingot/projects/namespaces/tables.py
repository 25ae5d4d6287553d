"""Tables and records of namespaces, their hierarchy, memberships, group shares, access requests and invitations."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Date, Timestamp
from ingot.projects.namespaces.group_options import GroupOptions, group_options

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
    # Case-folded copies, for case-insensitive uniqueness and search.
    text("full_path_key", unique=True),
    text("name_key"),
    # JSON document of ``GroupOptions``; values that equal the default are omitted.
    text("options_document", server_default="{}"),
    # Since when the group requires two-factor authentication of its members; null if it does not.
    text("two_factor_required_at", nullable=True),
    # Networks in CIDR notation, separated by commas, from which a top-level group can be used; null means all.
    text("ip_restriction_ranges", nullable=True, index=True),
    # Names are unique among siblings only; at the top level (NULL parent) the path identifies a namespace.
    UniqueConstraint("parent_id", "name"),
    sqlite_autoincrement=True,
)
# Covering indexes: lists find the rows of a page in the index alone, before they read any row.
Index("ix_namespaces_name_key", namespaces.c.kind, namespaces.c.name_key, namespaces.c.id, namespaces.c.visibility)
Index("ix_namespaces_visibility", namespaces.c.kind, namespaces.c.visibility, namespaces.c.id)

# Pairs of each namespace with itself and each ancestor, so that inherited access is one indexed join at any depth.
namespace_tree = Table(
    "namespace_tree",
    metadata,
    reference("ancestor_id", "namespaces.id", primary_key=True),
    reference("descendant_id", "namespaces.id", primary_key=True),
    Index("ix_namespace_tree_descendant_id", "descendant_id", "ancestor_id"),
)

# Former paths of renamed or transferred namespaces; they redirect, and no other namespace can take them.
path_redirects = Table(
    "path_redirects",
    metadata,
    row_id(),
    text("full_path_key", unique=True),
    reference("namespace_id", "namespaces.id", index=True),
    sqlite_autoincrement=True,
)

# One set of tables serves groups and projects; projects are in a higher package, so there is no foreign key to them.
SourceKind = Literal["group", "project"]

memberships = Table(
    "memberships",
    metadata,
    row_id(),
    text("source_kind"),
    number("source_id"),
    # The group itself, or the namespace of the project: members of a project may see the groups that contain it.
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
    # Covers lists and counts of members in the order of their users.
    Index("ix_memberships_source", "source_kind", "source_id", "user_id", "expires_at", "access_level"),
    Index("ix_memberships_expires_at", "expires_at"),
    sqlite_autoincrement=True,
)

# Invitations of a group into another one: its direct members get at most this level there and in all descendants.
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

# Attributes set by administrators; exactly one of the two ids is set. Attributes of users are in a table of accounts.
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

# Invitations of email addresses that belong to no user yet. Only a digest of the token in the mail is stored.
invitations = Table(
    "invitations",
    metadata,
    row_id(),
    text("source_kind"),
    number("source_id"),
    reference("namespace_id", "namespaces.id", index=True),
    text("email", index=True),
    number("access_level"),
    text("expires_at", nullable=True),
    binary("digest", unique=True),
    text("created_at", index=True),
    reference("created_by_id", "users.id", ondelete="SET NULL", nullable=True),
    UniqueConstraint("source_kind", "source_id", "email"),
    sqlite_autoincrement=True,
)


class Namespace(Record, frozen=True):
    """Path that contains projects: a user's personal namespace or a group."""

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
    options_document: str
    two_factor_required_at: Timestamp | None
    ip_restriction_ranges: str | None

    @property
    def options(self) -> GroupOptions:
        """Options of a group, with their defaults."""
        return group_options(self.options_document)


class Membership(Record, frozen=True):
    """User's access level in a group or project; it also applies to everything below."""

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
    """Invitation of a group into another one, with the name and path that responses show."""

    id: int
    group_id: int
    invited_id: int
    group_access: int
    expires_at: Date | None
    created_at: Timestamp
    invited_name: str
    invited_full_path: str


class AccessRequest(Record, frozen=True):
    """User's request to become a member of a group or project."""

    id: int
    source_kind: SourceKind
    source_id: int
    namespace_id: int
    user_id: int
    requested_at: Timestamp


class Invitation(Record, frozen=True):
    """Pending invitation of an email address into a group or project."""

    id: int
    source_kind: SourceKind
    source_id: int
    namespace_id: int
    email: str
    access_level: int
    expires_at: Date | None
    digest: bytes
    created_at: Timestamp
    created_by_id: int | None
