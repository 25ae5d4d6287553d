"""Request parameters of projects."""

from itertools import chain
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import UNSET, UnsetType

from ingot.accounts.instance.settings import Visibility
from ingot.core.access.levels import LevelNumber
from ingot.core.api.audience import Affected
from ingot.core.api.declared_fields import effect, params_of
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
    visibility: (
        Annotated[
            Visibility,
            effect("Who can see the project: its members, all signed-in users, or everyone.", "that of the instance"),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    default_branch: (
        Annotated[
            str,
            effect(
                "Branch that everybody's clones check out and that new merge requests target.",
                "that of the group or the instance",
            ),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
        | None
    ) = UNSET
    issues_enabled: (
        Annotated[bool, effect("If off, nobody sees the issues.", True), Affected.PROJECT_VISITORS] | UnsetType
    ) = UNSET
    merge_requests_enabled: (
        Annotated[bool, effect("If off, nobody sees the merge requests.", True), Affected.PROJECT_VISITORS] | UnsetType
    ) = UNSET
    jobs_enabled: (
        Annotated[
            bool,
            effect("If off, the project runs no pipelines and its jobs are hidden.", True),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    wiki_enabled: (
        Annotated[bool, effect("If off, nobody sees the wiki.", True), Affected.PROJECT_VISITORS] | UnsetType
    ) = UNSET
    snippets_enabled: (
        Annotated[bool, effect("If off, nobody sees the snippets of the project.", True), Affected.PROJECT_VISITORS]
        | UnsetType
    ) = UNSET
    container_registry_enabled: (
        Annotated[
            bool,
            effect("If off, images of the project can be neither pushed nor pulled.", True),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    shared_runners_enabled: (
        Annotated[
            bool,
            effect("Jobs of the project may run on the runners of the instance.", "that of the instance"),
            Affected.PROJECT_PIPELINES,
        ]
        | UnsetType
    ) = UNSET
    public_jobs: (
        Annotated[
            bool,
            effect("Everyone who can see the project sees its pipelines and jobs; otherwise only members do.", True),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    public_builds: bool | UnsetType = UNSET
    only_allow_merge_if_pipeline_succeeds: (
        Annotated[
            bool,
            effect("Nobody can merge before the pipeline of the merge request has succeeded.", False),
            Affected.MERGES,
        ]
        | UnsetType
    ) = UNSET
    only_allow_merge_if_all_discussions_are_resolved: (
        Annotated[
            bool,
            effect("Nobody can merge before all threads of the merge request are resolved.", False),
            Affected.MERGES,
        ]
        | UnsetType
    ) = UNSET
    lfs_enabled: (
        Annotated[bool, effect("Users can push and pull large files with Git LFS.", True), Affected.PUSHES] | UnsetType
    ) = UNSET
    request_access_enabled: (
        Annotated[bool, effect("Signed-in users who are not members can ask for access.", True), Affected.NON_MEMBERS]
        | UnsetType
    ) = UNSET
    printing_merge_request_link_enabled: (
        Annotated[bool, effect("Users who push a branch see a link to open a merge request.", True), Affected.PUSHES]
        | UnsetType
    ) = UNSET
    printing_merge_requests_link_enabled: bool | UnsetType = UNSET
    repository_access_level: (
        Annotated[
            RepositoryLevel,
            effect("Disabled hides the code from all users; private shows it to members only.", "enabled"),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    issues_access_level: (
        Annotated[
            FeatureLevel,
            effect("Disabled hides the issues from all users; private shows them to members only.", "enabled"),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    merge_requests_access_level: (
        Annotated[
            FeatureLevel,
            effect(
                "Disabled hides the merge requests from all users; private shows them to members from reporters.",
                "enabled",
            ),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    builds_access_level: (
        Annotated[
            FeatureLevel,
            effect("Disabled runs no pipelines; private shows them to members only.", "enabled"),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    wiki_access_level: (
        Annotated[
            FeatureLevel,
            effect("Disabled hides the wiki from all users; private shows it to members only.", "enabled"),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    snippets_access_level: (
        Annotated[
            FeatureLevel,
            effect(
                "Disabled hides the snippets of the project from all users; private shows them to members only.",
                "enabled",
            ),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    container_registry_access_level: (
        Annotated[
            FeatureLevel,
            effect("Disabled refuses all images of the project; private admits members from reporters.", "enabled"),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    merge_method: (
        Annotated[
            Literal["merge", "rebase_merge", "ff"],
            effect(
                "How every merge request is merged: with a merge commit, with one after a rebase, or without one.",
                "merge",
            ),
            Affected.MERGES,
        ]
        | UnsetType
    ) = UNSET
    squash_option: (
        Annotated[
            Literal["never", "always", "default_on", "default_off"],
            effect("Whether those who merge can or must combine the commits into one.", "default_off"),
            Affected.MERGES,
        ]
        | UnsetType
    ) = UNSET
    remove_source_branch_after_merge: (
        Annotated[
            bool,
            effect("New merge requests propose to delete their source branch after the merge.", True),
            Affected.MERGE_REQUESTS,
        ]
        | UnsetType
    ) = UNSET
    tag_list: list[str] | UnsetType | None = UNSET
    topics: list[str] | UnsetType | None = UNSET
    avatar: Upload | UnsetType | None = UNSET
    ci_config_path: (
        Annotated[
            str,
            effect("File with the CI configuration of all pipelines of the project; empty for `.gitlab-ci.yml`.", None),
            Affected.PROJECT_PIPELINES,
        ]
        | UnsetType
        | None
    ) = UNSET
    build_timeout: (
        Annotated[
            int,
            effect("Seconds after which every job of the project is stopped, unless the job sets its own.", 3600),
            Affected.PROJECT_PIPELINES,
        ]
        | UnsetType
    ) = UNSET
    build_coverage_regex: (
        Annotated[
            str,
            effect("Expression that finds the test coverage in the logs of the project's jobs.", None),
            Affected.PROJECT_PIPELINES,
        ]
        | UnsetType
        | None
    ) = UNSET
    build_git_strategy: (
        Annotated[
            Literal["fetch", "clone"],
            effect("Whether runners update the clone of the job before or start with an empty folder.", "fetch"),
            Affected.PROJECT_PIPELINES,
        ]
        | UnsetType
    ) = UNSET
    ci_default_git_depth: (
        Annotated[
            int,
            effect("Number of commits that jobs fetch; 0 fetches the whole history.", 20),
            Affected.PROJECT_PIPELINES,
        ]
        | UnsetType
        | None
    ) = UNSET
    auto_cancel_pending_pipelines: (
        Annotated[
            Literal["enabled", "disabled"],
            effect("A newer pipeline of a branch cancels the older ones that have not finished.", "enabled"),
            Affected.PROJECT_PIPELINES,
        ]
        | UnsetType
    ) = UNSET
    keep_latest_artifact: (
        Annotated[
            bool,
            effect("Artifacts of the latest successful pipeline of each branch and tag do not expire.", True),
            Affected.PROJECT_PIPELINES,
        ]
        | UnsetType
    ) = UNSET
    group_runners_enabled: (
        Annotated[
            bool, effect("Jobs of the project may run on the runners of its groups.", True), Affected.PROJECT_PIPELINES
        ]
        | UnsetType
    ) = UNSET


class CreateProject(ProjectAttributes, kw_only=True):
    """New project; a name or a path is required."""

    name: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    namespace_id: int | None = None
    import_url: str | UnsetType | None = UNSET
    initialize_with_readme: bool = False


class EditProject(ProjectAttributes, kw_only=True):
    """Changes of a project."""

    refuses_unknown: ClassVar[bool] = True
    repository_storage: (
        Annotated[
            str,
            effect(
                "Storage of the repository, set by administrators; users cannot push at times while it is moved.",
                "that of the instance",
            ),
            Affected.PROJECT_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    name: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    import_url: str | UnsetType | None = UNSET


class EditProjectRequest(EditProject, kw_only=True):
    """Changes of a project in a request; at least one is required."""

    required: ClassVar[str] = '400 (Bad request) "name" not given'


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
    visibility: (
        Annotated[
            Visibility,
            effect("Who can see the project: its members, all signed-in users, or everyone.", "that of the instance"),
        ]
        | UnsetType
    ) = UNSET
    mr_default_target_self: bool | UnsetType = UNSET
