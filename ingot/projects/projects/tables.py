"""Tables and records of projects, redirects, stars, shares, topics and wikis."""

from sqlalchemy import Index, Table, UniqueConstraint, true

from ingot.core.db.schema import Record, binary, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Date, Timestamp
from ingot.projects.projects.options import ProjectCiOptions, ProjectOptions, project_ci_options, project_options

_SELECTED_BY = ("visibility", "namespace_id", "archived", "issues_enabled", "merge_requests_enabled")

projects = Table(
    "projects",
    metadata,
    row_id(),
    # A deleted project has no namespace any more; its rows and files are removed by a job.
    reference("namespace_id", "namespaces.id", ondelete="SET NULL", nullable=True),
    reference("creator_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("name"),
    text("path"),
    text("full_path"),
    text("description", nullable=True),
    text("visibility"),
    text("default_branch"),
    flag("archived"),
    flag("issues_enabled"),
    flag("merge_requests_enabled"),
    flag("jobs_enabled"),
    flag("wiki_enabled"),
    flag("snippets_enabled"),
    flag("container_registry_enabled"),
    flag("shared_runners_enabled"),
    flag("lfs_enabled"),
    flag("public_jobs"),
    flag("request_access_enabled"),
    flag("only_allow_merge_if_pipeline_succeeds"),
    flag("only_allow_merge_if_all_discussions_are_resolved"),
    flag("printing_merge_request_link_enabled"),
    text("merge_method", server_default="merge"),
    text("squash_option", server_default="default_off"),
    text("repository_access_level", server_default="enabled"),
    flag("remove_source_branch_after_merge", server_default=true()),
    text("ci_config_path", nullable=True),
    reference("avatar_id", "avatars.id", ondelete="SET NULL", nullable=True),
    text("avatar_file", nullable=True),
    text("import_status"),
    text("import_error", nullable=True),
    binary("import_url", nullable=True),
    text("import_progress", nullable=True),
    binary("runners_token"),
    reference("forked_from_id", "projects.id", ondelete="SET NULL", nullable=True, index=True),
    number("forks_count"),
    number("star_count"),
    number("open_issues_count"),
    number("commit_count"),
    number("repository_size"),
    number("lfs_objects_size"),
    number("job_artifacts_size"),
    flag("empty"),
    text("repository_key", unique=True),
    # Counts the changes of refs; part of the key of caches that depend on refs.
    number("generation", server_default="0"),
    text("created_at"),
    text("updated_at"),
    text("last_activity_at"),
    # Case-folded copies, for case-insensitive uniqueness, order and search on both engines.
    text("full_path_key", unique=True),
    text("name_key"),
    text("path_key"),
    # JSON document of ``ProjectOptions`` and ``ProjectCiOptions``; values that equal the default are omitted.
    text("options_document", server_default="{}"),
    # Kind of the source of an import with issues and merge requests; one of a repository alone has a URL.
    text("import_type", nullable=True),
    # Deleted projects have no namespace, so they do not conflict with others.
    UniqueConstraint("namespace_id", "name"),
    Index("ix_projects_namespace_id", "namespace_id", "id"),
    # Covering indexes: lists find the rows of a page in the index alone, before they read any row.
    Index("ix_projects_created_at", "created_at", "id", *_SELECTED_BY),
    Index("ix_projects_last_activity_at", "last_activity_at", "id", *_SELECTED_BY),
    Index("ix_projects_updated_at", "updated_at", "id", *_SELECTED_BY),
    Index("ix_projects_star_count", "star_count", "id", *_SELECTED_BY),
    Index("ix_projects_name_key", "name_key", "id", *_SELECTED_BY),
    Index("ix_projects_path_key", "path_key", "id", *_SELECTED_BY),
    Index("ix_projects_visibility", *_SELECTED_BY, "id"),
    sqlite_autoincrement=True,
)

# Former paths of projects, stored by namespace instead of full path, so that they stay valid if that is moved too.
project_redirects = Table(
    "project_redirects",
    metadata,
    row_id(),
    reference("namespace_id", "namespaces.id"),
    text("path_key"),
    reference("project_id", "projects.id", index=True),
    UniqueConstraint("namespace_id", "path_key"),
    sqlite_autoincrement=True,
)

stars = Table(
    "stars",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    reference("project_id", "projects.id"),
    text("created_at"),
    UniqueConstraint("user_id", "project_id"),
    Index("ix_stars_project_id", "project_id", "user_id"),
    sqlite_autoincrement=True,
)

shares = Table(
    "project_shares",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("group_id", "namespaces.id", index=True),
    number("group_access"),
    text("expires_at", nullable=True),
    text("created_at"),
    UniqueConstraint("project_id", "group_id"),
    sqlite_autoincrement=True,
)

project_topics = Table(
    "project_topics",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    text("name_key"),
    UniqueConstraint("project_id", "name_key"),
    Index("ix_project_topics_name_key", "name_key", "project_id"),
    sqlite_autoincrement=True,
)

# The wiki of a project or group is stored in a separate repository, which is created on first use.
# Languages of the default branch at the end of each day with a push, from which their trend is drawn.
language_days = Table(
    "language_days",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("day"),
    # Percent by language, as JSON.
    text("shares"),
    UniqueConstraint("project_id", "day"),
    sqlite_autoincrement=True,
)

project_wikis = Table(
    "project_wikis",
    metadata,
    row_id(),
    reference("project_id", "projects.id", unique=True),
    text("repository_key", unique=True),
    sqlite_autoincrement=True,
)

group_wikis = Table(
    "group_wikis",
    metadata,
    row_id(),
    reference("group_id", "namespaces.id", unique=True),
    text("repository_key", unique=True),
    sqlite_autoincrement=True,
)


class Project(Record, frozen=True):
    """Project, with the columns of its namespace and its owner that responses show."""

    id: int
    namespace_id: int
    creator_id: int | None
    name: str
    path: str
    full_path: str
    description: str | None
    visibility: str
    default_branch: str
    archived: bool
    issues_enabled: bool
    merge_requests_enabled: bool
    jobs_enabled: bool
    wiki_enabled: bool
    snippets_enabled: bool
    container_registry_enabled: bool
    shared_runners_enabled: bool
    lfs_enabled: bool
    public_jobs: bool
    request_access_enabled: bool
    only_allow_merge_if_pipeline_succeeds: bool
    only_allow_merge_if_all_discussions_are_resolved: bool
    printing_merge_request_link_enabled: bool
    merge_method: str
    squash_option: str
    repository_access_level: str
    remove_source_branch_after_merge: bool
    ci_config_path: str | None
    avatar_id: int | None
    avatar_file: str | None
    import_status: str
    import_error: str | None
    import_url: bytes | None
    import_progress: str | None
    runners_token: bytes
    forked_from_id: int | None
    forks_count: int
    star_count: int
    open_issues_count: int
    commit_count: int
    repository_size: int
    lfs_objects_size: int
    job_artifacts_size: int
    empty: bool
    repository_key: str
    generation: int
    created_at: Timestamp
    updated_at: Timestamp
    last_activity_at: Timestamp
    full_path_key: str
    name_key: str
    path_key: str
    options_document: str
    import_type: str | None
    space_kind: str
    space_name: str
    space_path: str
    space_full_path: str
    space_full_name: str
    space_parent_id: int | None
    space_owner_id: int | None
    owner_username: str | None
    owner_name: str | None
    owner_state: str | None
    owner_avatar_id: int | None
    owner_avatar_file: str | None
    owner_created_at: Timestamp | None

    @property
    def options(self) -> ProjectOptions:
        """Options with their defaults."""
        return project_options(self.options_document)

    @property
    def ci_options(self) -> ProjectCiOptions:
        """Options for CI with their defaults."""
        return project_ci_options(self.options_document)

    @property
    def full_name(self) -> str:
        """Name of the project after those of its groups or that of its owner."""
        return f"{self.owner_name or self.space_full_name} / {self.name}"


class Share(Record, frozen=True):
    """Group that a project is shared with, and its maximum level."""

    id: int
    project_id: int
    group_id: int
    group_access: int
    expires_at: Date | None
    created_at: Timestamp
    group_name: str
    group_full_path: str
