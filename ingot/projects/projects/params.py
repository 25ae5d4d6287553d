"""Request parameters of projects."""

from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import UNSET, UnsetType

from ingot.accounts.instance.settings import Visibility
from ingot.core.access.levels import LevelNumber
from ingot.core.api.declared_fields import params_of
from ingot.core.api.params import Params, Upload
from ingot.core.db.times import Date, Timestamp
from ingot.projects.projects.cleanup_policy import ContainerCleanupParams
from ingot.projects.projects.options import (
    ABSENT_OPTIONS,
    INTERNAL,
    SHOWN_ONLY,
    FeatureLevel,
    ProjectCiOptions,
    ProjectOptions,
)


class ListProjects(Params):
    """Filters and order of all lists of projects."""

    archived: bool | None = None
    visibility: Visibility | None = None
    search: str = ""
    simple: bool = False
    owned: bool = False
    membership: bool = False
    starred: bool = False
    statistics: bool = False
    custom_attributes: dict[str, str] | None = None
    with_custom_attributes: bool = False
    with_issues_enabled: bool = False
    with_merge_requests_enabled: bool = False
    min_access_level: LevelNumber | None = None
    topic: str = ""
    id_after: int | None = None
    id_before: int | None = None
    last_activity_after: Timestamp | None = None
    last_activity_before: Timestamp | None = None
    order_by: Literal["id", "name", "path", "created_at", "updated_at", "last_activity_at", "star_count"] = "created_at"
    sort: Literal["asc", "desc"] = "desc"


class ListGroupProjects(ListProjects):
    """Filters of the projects of a group, which include projects shared with it."""

    include_subgroups: bool = False
    with_shared: bool = True


class ListProjectGroups(Params):
    """Filters of the groups of a project; groups that the caller may not see are never listed."""

    search: str = ""
    skip_groups: list[int] | None = None
    with_shared: bool = False
    shared_min_access_level: LevelNumber | None = None
    shared_visible_only: bool = True


class ListMemberships(Params):
    """Filter of a user's memberships by the kind of source."""

    type: Literal["Project", "Namespace"] | None = None


class GetProject(Params):
    """Optional parts of a project's view."""

    statistics: bool = False
    with_custom_attributes: bool = False
    ci_settings: bool = True
    """Whether administrators of the project get its settings for CI, which takes a query."""


class SearchUsers(Params):
    """Filter of the users of a project."""

    search: str = ""


RepositoryLevel = Literal["enabled", "private", "disabled"]
"""Access to the code: by the project's visibility, for members only, or disabled."""
if TYPE_CHECKING:  # The fields are declared once, and created at run time.
    _OptionParams = Params
else:
    _OptionParams = params_of(
        ProjectOptions, ProjectCiOptions, without=(*INTERNAL, *SHOWN_ONLY, "container_expiration_policy")
    )


class ProjectAttributes(_OptionParams):
    """Parameters that creating and editing share."""

    names_unknown: ClassVar[bool] = True
    absent = frozenset(chain.from_iterable(ABSENT_OPTIONS.values()))
    emails_disabled: bool | UnsetType = UNSET
    container_expiration_policy_attributes: ContainerCleanupParams | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    visibility: Visibility | UnsetType = UNSET
    default_branch: str | UnsetType | None = UNSET
    issues_enabled: bool | UnsetType = UNSET
    merge_requests_enabled: bool | UnsetType = UNSET
    jobs_enabled: bool | UnsetType = UNSET
    wiki_enabled: bool | UnsetType = UNSET
    snippets_enabled: bool | UnsetType = UNSET
    container_registry_enabled: bool | UnsetType = UNSET
    shared_runners_enabled: bool | UnsetType = UNSET
    public_jobs: bool | UnsetType = UNSET
    public_builds: bool | UnsetType = UNSET
    only_allow_merge_if_pipeline_succeeds: bool | UnsetType = UNSET
    only_allow_merge_if_all_discussions_are_resolved: bool | UnsetType = UNSET
    lfs_enabled: bool | UnsetType = UNSET
    request_access_enabled: bool | UnsetType = UNSET
    printing_merge_request_link_enabled: bool | UnsetType = UNSET
    printing_merge_requests_link_enabled: bool | UnsetType = UNSET
    repository_access_level: RepositoryLevel | UnsetType = UNSET
    issues_access_level: FeatureLevel | UnsetType = UNSET
    merge_requests_access_level: FeatureLevel | UnsetType = UNSET
    builds_access_level: FeatureLevel | UnsetType = UNSET
    wiki_access_level: FeatureLevel | UnsetType = UNSET
    snippets_access_level: FeatureLevel | UnsetType = UNSET
    container_registry_access_level: FeatureLevel | UnsetType = UNSET
    merge_method: Literal["merge", "rebase_merge", "ff"] | UnsetType = UNSET
    squash_option: Literal["never", "always", "default_on", "default_off"] | UnsetType = UNSET
    remove_source_branch_after_merge: bool | UnsetType = UNSET
    tag_list: list[str] | UnsetType | None = UNSET
    topics: list[str] | UnsetType | None = UNSET
    avatar: Upload | UnsetType | None = UNSET
    ci_config_path: str | UnsetType | None = UNSET
    build_timeout: int | UnsetType = UNSET
    build_coverage_regex: str | UnsetType | None = UNSET
    build_git_strategy: Literal["fetch", "clone"] | UnsetType = UNSET
    ci_default_git_depth: int | UnsetType | None = UNSET
    auto_cancel_pending_pipelines: Literal["enabled", "disabled"] | UnsetType = UNSET
    keep_latest_artifact: bool | UnsetType = UNSET
    group_runners_enabled: bool | UnsetType = UNSET


class CreateProject(ProjectAttributes, kw_only=True):
    """New project; a name or a path is required."""

    name: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    namespace_id: int | None = None
    import_url: str | UnsetType | None = UNSET
    initialize_with_readme: bool = False


class EditProject(ProjectAttributes, kw_only=True):
    """Changes of a project; at least one is required."""

    refuses_unknown: ClassVar[bool] = True
    repository_storage: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    import_url: str | UnsetType | None = UNSET


class ShareProject(Params):
    """Group, its maximum level and the expiry date."""

    group_id: int
    group_access: int
    expires_at: Date | None = None


class TransferProject(Params):
    """Target namespace by id or full path."""

    namespace: str


class ForkProject(Params):
    """Target namespace, by default the caller's own, and attributes of the fork."""

    by_job: bool = False
    """Respond before the repository is copied; ``import_status`` then shows the progress."""
    namespace: str | None = None
    namespace_id: int | None = None
    namespace_path: str | None = None
    name: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    visibility: Visibility | UnsetType = UNSET
    mr_default_target_self: bool | UnsetType = UNSET
