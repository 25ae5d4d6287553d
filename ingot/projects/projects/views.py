"""Response structs of projects."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from ingot.accounts.instance.access_settings import access_settings
from ingot.accounts.instance.settings import custom_clone_root
from ingot.accounts.users.views import CustomAttributeView
from ingot.core.access.actor import Actor
from ingot.core.api.declared_fields import optional_view_of, view_of
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, Timestamp
from ingot.core.http.request import Origin
from ingot.core.outgoing.ssh_urls import is_ssh_url
from ingot.core.outgoing.urls import strip_credentials
from ingot.core.settings import Settings, split_ssh_address, url_host
from ingot.git.maintenance.store import storage_of
from ingot.projects.groups.views import SharedGroupView
from ingot.projects.projects import policy
from ingot.projects.projects.feature_access import feature_level
from ingot.projects.projects.options import INTERNAL, ProjectCiOptions, ProjectOptions, shown_options
from ingot.projects.projects.ports import CiSettingsReader
from ingot.projects.projects.queries import paths_of_projects
from ingot.projects.projects.relations import (
    MembershipLevels,
    ProjectRelations,
    ids_with_statistics,
    merge_request_targets,
    project_relations,
)
from ingot.projects.projects.tables import Project


class InstanceUrls(msgspec.Struct, frozen=True):
    """Base URLs of the instance for HTTP and SSH."""

    base: str
    ssh: str
    """Prefix of a project's path in an SSH URL."""
    clone: str
    """Prefix of a project's path in an HTTP URL for git."""


class SimpleProjectView(View):
    """Project inside other responses and in simple lists."""

    id: int
    name: str
    name_with_namespace: str
    path: str
    path_with_namespace: str
    http_url_to_repo: str
    ssh_url_to_repo: str
    web_url: str


class NamespaceBrief(View):
    """Namespace of a project."""

    id: int
    name: str
    path: str
    kind: str
    full_path: str
    parent_id: int | None


class ProjectOwnerView(View):
    """Owner of the personal namespace of a project."""

    id: int
    username: str
    name: str
    state: str
    avatar_url: str | None
    web_url: str
    created_at: Timestamp


class MembershipLevelView(View):
    """Levels in a project or in its group."""

    access_level: int
    notification_level: int


class PermissionsView(View):
    """Levels of the caller."""

    project_access: MembershipLevelView | None
    group_access: MembershipLevelView | None


class StatisticsView(View):
    """Commit count and sizes in bytes."""

    commit_count: int
    storage_size: int
    repository_size: int
    lfs_objects_size: int
    job_artifacts_size: int


class ProjectLinksView(View):
    """URLs of a project and its parts in the API; parts that are disabled are left out."""

    self: str
    repo_branches: str
    labels: str
    events: str
    members: str
    issues: str | UnsetType = UNSET
    merge_requests: str | UnsetType = UNSET


if TYPE_CHECKING:  # The fields are declared once, and created at run time.
    _OptionsView = SimpleProjectView
else:
    _OptionsView = view_of(SimpleProjectView, ProjectOptions, INTERNAL)


class _ProjectFields(_OptionsView):
    description: str | None
    default_branch: str | None
    tag_list: list[str]
    topics: list[str]
    visibility: str
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
    printing_merge_requests_link_enabled: bool
    printing_merge_request_link_enabled: bool
    repository_access_level: str
    issues_access_level: str
    merge_requests_access_level: str
    builds_access_level: str
    wiki_access_level: str
    snippets_access_level: str
    container_registry_access_level: str
    merge_method: str
    squash_option: str
    emails_disabled: bool
    remove_source_branch_after_merge: bool
    ci_config_path: str | None
    created_at: Timestamp
    last_activity_at: Timestamp
    creator_id: int | None
    namespace: NamespaceBrief
    links: ProjectLinksView = msgspec.field(name="_links")
    import_status: str
    avatar_url: str | None
    star_count: int
    forks_count: int
    empty_repo: bool
    shared_with_groups: list[SharedGroupView]
    can_create_merge_request_in: bool | UnsetType = UNSET
    owner: ProjectOwnerView | UnsetType = UNSET
    forked_from_project: SimpleProjectView | UnsetType = UNSET
    open_issues_count: int | UnsetType = UNSET
    permissions: PermissionsView | UnsetType = UNSET
    statistics: StatisticsView | UnsetType = UNSET
    readme_url: str | UnsetType = UNSET
    import_url: str | UnsetType | None = UNSET
    import_type: str | UnsetType | None = UNSET
    import_error: str | UnsetType | None = UNSET
    repository_storage: str | UnsetType = UNSET
    runners_token: str | UnsetType | None = UNSET
    build_timeout: int | UnsetType = UNSET
    build_coverage_regex: str | UnsetType | None = UNSET
    build_git_strategy: str | UnsetType = UNSET
    ci_default_git_depth: int | UnsetType = UNSET
    auto_cancel_pending_pipelines: str | UnsetType = UNSET
    keep_latest_artifact: bool | UnsetType = UNSET
    group_runners_enabled: bool | UnsetType = UNSET
    custom_attributes: list[CustomAttributeView] | UnsetType = UNSET
    marked_for_deletion_at: Date | UnsetType | None = UNSET


if TYPE_CHECKING:  # The fields are declared once, and created at run time.
    _CiOptionsView = _ProjectFields
else:
    _CiOptionsView = optional_view_of(_ProjectFields, ProjectCiOptions)


class ProjectView(_CiOptionsView):
    """Project."""


def instance_urls(db: Connection, origin: Origin, settings: Settings) -> InstanceUrls:
    """Return the base URLs as the client of this request sees them."""
    return with_clone_root(db, instance_urls_at(origin.base, settings))


def with_clone_root(db: Connection, urls: InstanceUrls) -> InstanceUrls:
    """Return the URLs with the root of clone addresses that administrators have set, if any."""
    root = custom_clone_root(db)
    return urls if root is None else msgspec.structs.replace(urls, clone=f"{root.rstrip('/')}/")


def instance_urls_at(base: str, settings: Settings) -> InstanceUrls:
    """Return the base URLs outside of a request; ``base`` is the root URL of the pages."""
    return _instance_urls(base, settings.host, settings.ssh_port, settings.ssh_address)


# Cached: parsing a URL takes 4 µs per request, and most requests use the same URL.
@lru_cache(64)
def _instance_urls(base: str, own_host: str, port: int, ssh_address: str) -> InstanceUrls:
    host = urlsplit(base).hostname or own_host
    if ssh_address:
        host, port = split_ssh_address(ssh_address)
    address = url_host(host)
    return InstanceUrls(base, f"git@{address}:" if port == 22 else f"ssh://git@{address}:{port}/", f"{base}/")


def simple_view(project: Project, urls: InstanceUrls) -> SimpleProjectView:
    """Return the brief view of a project."""
    return SimpleProjectView(*_brief(project, urls))


def project_views(
    db: Connection, actor: Actor, page: Sequence[Project], urls: InstanceUrls, *, statistics: bool = False
) -> list[ProjectView]:
    """Return the views of a page of projects, with a fixed number of statements."""
    if not page:
        return []
    relations = project_relations(db, actor, list(page))
    counted = ids_with_statistics(db, actor, list(page)) if statistics else frozenset()
    targets = merge_request_targets(db, actor, page, relations)
    views = [_view(actor, project, relations, urls, project.id in counted) for project in page]
    for view in views:
        view.can_create_merge_request_in = view.id in targets
    return views


def project_view(
    db: Connection,
    actor: Actor,
    lookup: policy.ProjectLookup,
    urls: InstanceUrls,
    *,
    statistics: bool = False,
    ci_settings: bool = True,
) -> ProjectView:
    """Return the view of a project.

    Project administrators also see the import error, the runners token and the settings for CI.
    """
    project = lookup.project
    counted = statistics and policy.may_see_statistics(actor, lookup.access, project)
    view = _view(actor, project, project_relations(db, actor, [project], lookup), urls, counted)
    view.can_create_merge_request_in = policy.may_create_merge_request_in(actor, lookup.access, project)
    if policy.may_admin_project(actor, lookup.access, project):
        _add_administration_fields(db, actor, view, project)
        if ci_settings:
            for name, value in db.ports[CiSettingsReader].read(db, project.id)._asdict().items():
                setattr(view, name, value)
    return view


def _add_administration_fields(db: Connection, actor: Actor, view: ProjectView, project: Project) -> None:
    if project.import_url is not None:
        url = db.vault.unseal(project.import_url)
        view.import_url = url if is_ssh_url(url) else strip_credentials(url)[0]
        view.import_type = "git"
    else:
        view.import_url = view.import_type = None
    view.import_error = project.import_error
    tokens_allowed = access_settings(db).allow_runner_registration_token
    view.runners_token = db.vault.unseal(project.runners_token) if tokens_allowed else None
    for name in ProjectCiOptions.__struct_fields__:
        setattr(view, name, getattr(project.ci_options, name))
    if actor.admin:
        view.repository_storage = storage_of(project.repository_key)


def project_avatar_url(project: Project, base: str) -> str | None:
    """Return the URL of a project's avatar."""
    if project.avatar_id is None:
        return None
    return f"{base}/uploads/-/system/project/avatar/{project.id}/{project.avatar_file}"


def _brief(project: Project, urls: InstanceUrls) -> tuple[Any, ...]:
    path = project.full_path
    return (
        project.id,
        project.name,
        project.full_name,
        project.path,
        path,
        f"{urls.clone}{path}.git",
        f"{urls.ssh}{path}.git",
        f"{urls.base}/{path}",
    )


def _links(project: Project, base: str) -> ProjectLinksView:
    url = f"{base}/api/v4/projects/{project.id}"
    return ProjectLinksView(
        url,
        f"{url}/repository/branches",
        f"{url}/labels",
        f"{url}/events",
        f"{url}/members",
        f"{url}/issues" if project.issues_enabled else UNSET,
        f"{url}/merge_requests" if project.merge_requests_enabled else UNSET,
    )


def _project_fields(project: Project, relations: ProjectRelations, urls: InstanceUrls) -> tuple[Any, ...]:
    topics = relations.topics.get(project.id, [])
    return (
        project.description,
        project.default_branch,
        topics,
        topics,
        project.visibility,
        project.archived,
        project.issues_enabled,
        project.merge_requests_enabled,
        project.jobs_enabled,
        project.wiki_enabled,
        project.snippets_enabled,
        project.container_registry_enabled,
        project.shared_runners_enabled,
        project.lfs_enabled,
        project.public_jobs,
        project.request_access_enabled,
        project.only_allow_merge_if_pipeline_succeeds,
        project.only_allow_merge_if_all_discussions_are_resolved,
        project.printing_merge_request_link_enabled,
        project.printing_merge_request_link_enabled,
        project.repository_access_level,
        feature_level(project, "issues"),
        feature_level(project, "merge_requests"),
        feature_level(project, "builds"),
        feature_level(project, "wiki"),
        feature_level(project, "snippets"),
        feature_level(project, "container_registry"),
        project.merge_method,
        project.squash_option,
        not project.options.emails_enabled,
        project.remove_source_branch_after_merge,
        project.ci_config_path,
        project.created_at,
        project.last_activity_at,
        project.creator_id,
        NamespaceBrief(
            project.namespace_id,
            project.space_name,
            project.space_path,
            project.space_kind,
            project.space_full_path,
            project.space_parent_id,
        ),
        _links(project, urls.base),
        project.import_status,
        project_avatar_url(project, urls.base),
        project.star_count,
        project.forks_count,
        project.empty,
        [
            SharedGroupView(
                share.group_id, share.group_name, share.group_full_path, share.group_access, share.expires_at
            )
            for share in relations.shares.get(project.id, ())
        ],
    )


def _view(
    actor: Actor, project: Project, relations: ProjectRelations, urls: InstanceUrls, statistics: bool
) -> ProjectView:
    fields = _project_fields(project, relations, urls)
    view = ProjectView(*_brief(project, urls), *shown_options(project.options_document), *fields)
    view.marked_for_deletion_at = project.options.marked_for_deletion_on
    if project.space_owner_id is not None:
        view.owner = _owner(project, urls.base)
    source = relations.sources.get(project.forked_from_id or 0)
    if source is not None:
        view.forked_from_project = simple_view(source, urls)
    issues_level = feature_level(project, "issues")
    if issues_level == "enabled" or (issues_level == "private" and _is_member(actor, project, relations)):
        view.open_issues_count = project.open_issues_count
    if actor.known:
        view.permissions = PermissionsView(
            _level_view(relations.own.get(project.id)), _level_view(relations.group.get(project.namespace_id))
        )
    if statistics:
        view.statistics = _statistics(project)
    return view


def _is_member(actor: Actor, project: Project, relations: ProjectRelations) -> bool:
    """Return whether the caller is a member other than by a share, which a page of projects does not read."""
    owns = actor.known and project.space_owner_id == actor.user_id
    return actor.admin or owns or project.id in relations.own or project.namespace_id in relations.group


def _owner(project: Project, base: str) -> ProjectOwnerView:
    avatar_url = None
    if project.owner_avatar_id is not None:
        avatar_url = f"{base}/uploads/-/system/user/avatar/{project.space_owner_id}/{project.owner_avatar_file}"
    return ProjectOwnerView(
        project.space_owner_id or 0,
        project.owner_username or "",
        project.owner_name or "",
        project.owner_state or "",
        avatar_url,
        f"{base}/{project.owner_username}",
        project.owner_created_at or project.created_at,
    )


def _level_view(levels: MembershipLevels | None) -> MembershipLevelView | None:
    return MembershipLevelView(*levels) if levels else None


def _statistics(project: Project) -> StatisticsView:
    return StatisticsView(
        project.commit_count,
        project.repository_size + project.lfs_objects_size + project.job_artifacts_size,
        project.repository_size,
        project.lfs_objects_size,
        project.job_artifacts_size,
    )


def project_paths(db: Connection, project_ids: Sequence[int]) -> dict[int, str]:
    """Return the full paths of projects by id; one statement for all."""
    return paths_of_projects(db, project_ids) if project_ids else {}
