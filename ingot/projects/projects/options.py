"""Options of projects: attributes that are stored as one JSON document, with GitLab's names and defaults.

A description of a field states its effect; other fields are fixed at the value that describes the server.
docs/attributes.md is generated from these structs.
"""

from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, field

from ingot.core.api.audience import Affected
from ingot.core.api.declared_fields import fixed
from ingot.core.db.times import Date
from ingot.projects.namespaces.push_rule import PushRule
from ingot.projects.projects.cleanup_policy import ContainerCleanupPolicy

FeatureLevel = Literal["disabled", "private", "enabled"]
PrivateFeature = Literal["issues", "merge_requests", "builds", "wiki", "snippets", "container_registry"]
"""Feature with a switch of its own, whose level is private."""
PRIVATE_FEATURES: tuple[PrivateFeature, ...] = get_args(PrivateFeature)
_Template = Annotated[str, Meta(max_length=500)]
_Text = Annotated[str, Meta(max_length=65_535)]
_Line = Annotated[str, Meta(max_length=255)]
_Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class ProjectOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Options that everyone who may see a project sees."""

    autoclose_referenced_issues: Annotated[
        bool,
        Meta(description="Merging and pushing to the default branch close the issues that texts name."),
        Affected.MERGES,
    ] = True
    suggestion_commit_message: (
        Annotated[str, Meta(max_length=255, description="Message of commits that apply suggestions."), Affected.MERGES]
        | None
    ) = None
    merge_commit_template: (
        Annotated[str, Meta(max_length=500, description="Message of merge commits, with variables."), Affected.MERGES]
        | None
    ) = None
    squash_commit_template: (
        Annotated[
            str, Meta(max_length=500, description="Message of squashed commits, with variables."), Affected.MERGES
        ]
        | None
    ) = None
    issue_branch_template: (
        Annotated[
            _Line,
            Meta(description="Name of a branch that the page of an issue proposes, with `%{id}` and `%{title}`."),
            Affected.ISSUES,
        ]
        | None
    ) = None
    issues_template: (
        Annotated[_Text, Meta(description="Description that the page for new issues proposes."), Affected.ISSUES] | None
    ) = None
    merge_requests_template: (
        Annotated[
            _Text,
            Meta(description="Description that the page for new merge requests proposes."),
            Affected.MERGE_REQUESTS,
        ]
        | None
    ) = None
    merge_request_title_regex: (
        Annotated[
            _Line,
            Meta(description="Expression that the title of a merge request must match before a merge."),
            Affected.MERGES,
        ]
        | None
    ) = None
    merge_request_title_regex_description: (
        Annotated[
            _Line, Meta(description="What the title must look like, shown where it does not match."), Affected.MERGES
        ]
        | None
    ) = None
    resolve_outdated_diff_discussions: Annotated[
        bool, Meta(description="A push that changes the lines of a discussion resolves it."), Affected.PUSHES
    ] = False
    emails_enabled: Annotated[bool, Meta(description="If off, no mail is sent about the project."), Affected.MAILS] = (
        True
    )
    show_default_award_emojis: Annotated[
        bool,
        Meta(description="Pages of issues, merge requests and snippets offer thumbs before anybody has awarded them."),
        Affected.PROJECT_VISITORS,
    ] = True
    show_diff_preview_in_email: Annotated[
        bool, Meta(description="Mails about comments on lines of a diff show these lines."), Affected.MAILS
    ] = True
    warn_about_potentially_unwanted_characters: Annotated[
        bool,
        Meta(description="Pages warn of bidirectional control characters, which are marked in any case."),
        Affected.PROJECT_VISITORS,
    ] = True
    enforce_auth_checks_on_uploads: Annotated[
        bool,
        Meta(description="If off, everyone who knows the address of an uploaded image sees it without a sign-in."),
        Affected.PROJECT_VISITORS,
    ] = True
    mr_default_target_self: Annotated[
        bool,
        Meta(description="New merge requests of a fork target the fork itself by default, not its upstream."),
        Affected.MERGE_REQUESTS,
    ] = False
    allow_merge_on_skipped_pipeline: (
        Annotated[
            bool,
            Meta(description="If off, a skipped pipeline prevents a merge where pipelines must succeed."),
            Affected.MERGES,
        ]
        | None
    ) = None
    merge_pipelines_enabled: Annotated[
        bool,
        Meta(description="Pipelines of merge requests run on the result of merging the source into the target."),
        Affected.MERGE_REQUESTS,
    ] = False
    merge_trains_enabled: Annotated[
        bool,
        Meta(
            description="Automatic merges are tested together with those before them; needs merged results pipelines."
        ),
        Affected.MERGES,
    ] = False
    merge_trains_skip_train_allowed: Annotated[
        bool,
        Meta(
            description="An immediate merge may leave the pipelines of the merge train running, which do not test it; "
            "only with merge commits."
        ),
        Affected.MERGES,
    ] = False
    merge_trains_parallel_pipelines: Annotated[
        int,
        Meta(ge=1, le=100, description="Number of pipelines that a merge train runs at the same time."),
        Affected.MERGES,
    ] = 20
    rebase_stacked_merge_requests: Annotated[
        bool,
        Meta(
            description="After a merge that rewrites commits, the server rebases the source branches of the merge "
            "requests stacked on it, unless they are protected."
        ),
        Affected.PUSHES,
    ] = False
    merge_trains_batch_size: Annotated[
        int,
        Meta(ge=1, le=20, description="Number of merge requests that one pipeline of a merge train tests together."),
        Affected.MERGES,
    ] = 1
    packages_enabled: Annotated[
        bool, Meta(description="If off, the package registry is disabled."), Affected.PROJECT_VISITORS
    ] = True
    service_desk_enabled: Annotated[bool, fixed("Service Desk is not available.")] = False
    forking_access_level: Annotated[
        FeatureLevel,
        Meta(description="Disabled prevents forks; private allows them to members only."),
        Affected.PROJECT_VISITORS,
    ] = "enabled"
    releases_access_level: Annotated[
        FeatureLevel,
        Meta(description="Disabled hides releases; private shows them to members only."),
        Affected.PROJECT_VISITORS,
    ] = "enabled"
    environments_access_level: Annotated[
        FeatureLevel,
        Meta(description="Disabled hides environments and deployments, which only reporters see."),
        Affected.PROJECT_VISITORS,
    ] = "enabled"
    feature_flags_access_level: Annotated[
        FeatureLevel,
        Meta(description="Disabled hides feature flags, which only developers see."),
        Affected.PROJECT_VISITORS,
    ] = "enabled"
    infrastructure_access_level: Annotated[
        FeatureLevel,
        Meta(description="Disabled hides Terraform states, which only developers see."),
        Affected.PROJECT_VISITORS,
    ] = "enabled"
    pages_access_level: Annotated[
        Literal["disabled", "private", "enabled", "public"],
        Meta(
            description="Disabled takes the site of the project off; private shows it to members only, public to "
            "everyone, also if the project is private."
        ),
        Affected.SITE_VISITORS,
    ] = "enabled"
    package_registry_access_level: Annotated[
        Literal["disabled", "private", "enabled", "public"],
        Meta(
            description="Disabled disables the package registry; private limits it to members; public has the effect "
            "of enabled, because `package_registry_allow_anyone_to_pull_option` is false."
        ),
        Affected.PROJECT_VISITORS,
    ] = "enabled"
    private_features: list[PrivateFeature] = []
    push_rule: PushRule | None = None
    container_expiration_policy: Annotated[
        ContainerCleanupPolicy,
        Meta(description="Tags of container images that are deleted regularly."),
        Affected.IMAGES,
    ] = ContainerCleanupPolicy()
    approvals_before_merge: Annotated[
        int,
        Meta(ge=0, le=100, description="Approvals that each merge request requires from any users."),
        Affected.MERGES,
    ] = 0
    has_approval_rules: bool = False
    reset_approvals_on_push: bool = False
    disable_overriding_approvers_per_merge_request: bool = False
    merge_requests_author_approval: bool | None = None
    """Without a choice, authors can approve as long as no approvals are required."""
    merge_requests_disable_committers_approval: bool = False
    require_password_to_approve: bool = False
    selective_code_owner_removals: bool = False
    marked_for_deletion_on: Date | None = None
    name_before_deletion: str | None = None
    path_before_deletion: str | None = None
    archived_for_deletion: bool = False
    inactivity_warned_on: Date | None = None

    @property
    def has_merge_trains(self) -> bool:
        """Whether automatic merges join a merge train."""
        return self.merge_trains_enabled and self.merge_pipelines_enabled

    @property
    def may_skip_merge_trains(self) -> bool:
        """Whether merges may leave the pipelines of merge trains running."""
        return self.has_merge_trains and self.merge_trains_skip_train_allowed


class ProjectCiOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Options for CI, which only administrators of a project see."""

    ci_forward_deployment_enabled: Annotated[
        bool,
        Meta(description="Jobs do not run if a newer one has deployed another commit to their environment."),
        Affected.PROJECT_PIPELINES,
    ] = True
    ci_forward_deployment_rollback_allowed: Annotated[
        bool,
        Meta(description="Finished jobs may deploy an older commit when they are retried."),
        Affected.PROJECT_PIPELINES,
    ] = True
    ci_separated_caches: Annotated[
        bool, Meta(description="Protected and other branches use separate caches."), Affected.PROJECT_PIPELINES
    ] = True
    restrict_user_defined_variables: Annotated[
        bool,
        Meta(
            description="False unless `ci_pipeline_variables_minimum_override_role` restricts variables; setting it "
            "to true without that role admits maintainers."
        ),
        Affected.PROJECT_MEMBERS,
    ] = False
    ci_pipeline_variables_minimum_override_role: Annotated[
        Literal["no_one_allowed", "developer", "maintainer", "owner"],
        Meta(description="Role that may give variables to pipelines, schedules and manual jobs."),
        Affected.PROJECT_MEMBERS,
    ] = "developer"
    ci_allow_fork_pipelines_to_run_in_parent_project: Annotated[
        bool,
        Meta(description="Pipelines of forks that developers of the project start for merge requests run in it."),
        Affected.PROJECT_PIPELINES,
    ] = True
    ci_job_token_scope_enabled: Annotated[
        bool, fixed("Job tokens are limited by the allow list of the project that they reach.")
    ] = False
    ci_delete_pipelines_in_seconds: (
        Annotated[
            int,
            Meta(description="Age of pipelines that are deleted; between a day and a year."),
            Affected.PROJECT_PIPELINES,
        ]
        | None
    ) = None
    ci_id_token_sub_claim_components: Annotated[
        list[Literal["project_path", "ref_type", "ref"]],
        Meta(description="Parts of the claim `sub` of ID tokens; the first is `project_path`."),
        Affected.PROJECT_PIPELINES,
    ] = field(default_factory=lambda: ["project_path", "ref_type", "ref"])
    ci_push_repository_for_job_token_allowed: Annotated[
        bool,
        Meta(description="Tokens of the project's own jobs may push to its repository."),
        Affected.PROJECT_PIPELINES,
    ] = False
    max_artifacts_size: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=2**31 - 1,
                description="Largest artifact archive in megabytes, set by administrators; else the group decides.",
            ),
            Affected.PROJECT_PIPELINES,
        ]
        | None
    ) = None
    auto_devops_enabled: Annotated[bool, fixed("Auto DevOps is not available.")] = False
    auto_devops_deploy_strategy: Annotated[
        Literal["continuous", "manual", "timed_incremental"], fixed("Auto DevOps is not available.")
    ] = "continuous"
    mirror: Annotated[
        bool, Meta(description="The project follows the repository at `import_url`."), Affected.PROJECT_MIRROR
    ] = False
    mirror_trigger_builds: Annotated[
        bool, Meta(description="Updates of the mirror start pipelines."), Affected.PROJECT_PIPELINES
    ] = False
    only_mirror_protected_branches: Annotated[
        bool,
        Meta(description="Updates of the mirror change protected branches only, and no tags."),
        Affected.PROJECT_MIRROR,
    ] = False
    mirror_overwrites_diverged_branches: Annotated[
        bool,
        Meta(description="Updates of the mirror also change branches that have other commits here."),
        Affected.PROJECT_MIRROR,
    ] = False
    mirror_branch_regex: (
        Annotated[
            str,
            Meta(max_length=255, description="Updates of the mirror change matching branches only."),
            Affected.PROJECT_MIRROR,
        ]
        | None
    ) = None


ABSENT_OPTIONS = {
    "Analytics and monitoring": ("analytics_access_level", "monitor_access_level"),
    "Machine learning models": ("model_experiments_access_level", "model_registry_access_level"),
    "Requirements and security scans": ("requirements_access_level", "security_and_compliance_access_level"),
    "Status checks and Jira issues as conditions of merges": (
        "only_allow_merge_if_all_status_checks_passed",
        "prevent_merge_without_jira_issue",
    ),
    "External authorization": ("external_authorization_classification_label",),
    "Roles that cancel pipelines, and approval of deployments by trigger tokens": (
        "allow_pipeline_trigger_approve_deployment",
        "ci_restrict_pipeline_cancellation_role",
    ),
    "Users of pull mirrors other than the one who configures them": ("mirror_user_id",),
    "Templates of projects, and repositories with SHA-256": (
        "group_with_project_templates_id",
        "repository_object_format",
        "template_name",
        "template_project_id",
        "use_custom_template",
    ),
}
"""Options of GitLab by the part that they concern, which this server does not have."""
INTERNAL = (
    "private_features",
    "push_rule",
    "has_approval_rules",
    "reset_approvals_on_push",
    "disable_overriding_approvers_per_merge_request",
    "merge_requests_author_approval",
    "merge_requests_disable_committers_approval",
    "require_password_to_approve",
    "selective_code_owner_removals",
    "name_before_deletion",
    "path_before_deletion",
    "archived_for_deletion",
    "inactivity_warned_on",
)
"""Fields that are neither parameters nor shown under their names."""
SHOWN_ONLY = ("marked_for_deletion_on",)
"""Fields that are no parameters."""
_decode_options = msgspec.json.Decoder(ProjectOptions).decode
_decode_ci_options = msgspec.json.Decoder(ProjectCiOptions).decode


@lru_cache(1024)
def project_options(document: str) -> ProjectOptions:
    """Return the options of a stored document, with defaults for those that it omits; most documents are empty."""
    return _decode_options(document)


@lru_cache(1024)
def project_ci_options(document: str) -> ProjectCiOptions:
    """Return the options for CI of a stored document; older ones restrict variables without naming a role."""
    options = _decode_ci_options(document)
    if (
        not options.restrict_user_defined_variables
        or options.ci_pipeline_variables_minimum_override_role != "developer"
    ):
        return options
    return msgspec.structs.replace(options, ci_pipeline_variables_minimum_override_role="maintainer")


@lru_cache(1024)
def shown_options(document: str) -> tuple[Any, ...]:
    """Return the values of the options in the order of the view's fields."""
    options = project_options(document)
    if options.merge_trains_enabled and not options.has_merge_trains:  # What is stored counts again with both.
        options = msgspec.structs.replace(options, merge_trains_enabled=False)
    return tuple(getattr(options, name) for name in ProjectOptions.__struct_fields__ if name not in INTERNAL)


def edited_options(document: str, given: dict[str, Any]) -> str:
    """Return the document with the given options changed; an empty text removes the option."""
    structs: list[Any] = []
    for options in (project_options(document), project_ci_options(document)):
        changes = {
            name: None if given[name] == "" else given[name] for name in options.__struct_fields__ if name in given
        }
        structs.append(msgspec.structs.replace(options, **changes))
    merged = {name: value for options in structs for name, value in msgspec.to_builtins(options).items()}
    return msgspec.json.encode(merged).decode()
