"""Endpoints of container repositories, their tags and their protection rules."""

from ingot.ci.pipelines.predefined_variables import registry_host
from ingot.core.access.levels import Access
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound
from ingot.packages.containers import policy, queries, rules, service
from ingot.packages.containers.params import (
    CreateContainerRule,
    DeleteContainerTags,
    EditContainerRule,
    GetContainerRepository,
    ListContainerRepositories,
)
from ingot.packages.containers.tables import ContainerRepository, ContainerTag, container_protection_rules
from ingot.packages.containers.tag_selection import select_tags
from ingot.packages.containers.views import (
    ContainerRepositoryView,
    ContainerRuleView,
    ContainerTagDetails,
    container_rule_view,
    repository_views,
    tag_details,
)
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

routes = Routes("container_registry")


def _project_of_repository(call: Call) -> tuple[Access, Project]:
    """Find the project of the repository in the path."""
    repository = queries.find_repository(call.db, path_number(call.path, "repository_id"))
    return find_project(call.db, call.actor, repository.project_id)


def _repository(call: Call, project: Project) -> ContainerRepository:
    return queries.find_repository(call.db, path_number(call.path, "repository_id"), project.id)


@routes.get(
    "/projects/:id/registry/repositories",
    on=project_in_path,
    may=policy.may_read_images,
    returns=list[ContainerRepositoryView],
    open=True,
    job_token=True,
)
def list_container_repositories(
    call: Call, project: Project, params: ListContainerRepositories, page: Page
) -> Listing[ContainerRepositoryView]:
    """List the container repositories of a project."""
    listing = queries.list_repositories(call.db, project.id, page)
    views = repository_views(call.db, listing.items, call.origin.base, tags=params.tags, tags_count=params.tags_count)
    return listing.of(views)


@routes.get(
    "/groups/:id/registry/repositories",
    on=group_in_path,
    may=may_see_group,
    returns=list[ContainerRepositoryView],
    open=True,
)
def list_group_container_repositories(call: Call, group: Namespace, page: Page) -> Listing[ContainerRepositoryView]:
    """List the container repositories of the projects in a group and its subgroups."""
    listing = queries.list_group_repositories(call.db, call.actor, group.id, page)
    return listing.of(repository_views(call.db, listing.items, call.origin.base))


@routes.get(
    "/registry/repositories/:repository_id",
    on=_project_of_repository,
    may=policy.may_read_images,
    returns=ContainerRepositoryView,
    open=True,
    job_token=True,
)
def get_container_repository(call: Call, project: Project, params: GetContainerRepository) -> ContainerRepositoryView:
    """Get a container repository."""
    repository = _repository(call, project)
    view = repository_views(call.db, [repository], call.origin.base, tags=params.tags, tags_count=params.tags_count)[0]
    if params.size:
        view.size = queries.repository_size(call.db, repository.id)
    return view


@routes.delete(
    "/projects/:id/registry/repositories/:repository_id",
    on=project_in_path,
    may=policy.may_delete_repositories,
    returns=None,
    status=202,
    job_token=True,
)
def delete_container_repository(call: Call, project: Project) -> None:
    """Delete a container repository with its images."""
    repository = _repository(call, project)
    _require_deletion(call, project, repository)
    service.delete_repository(call.db, repository)


@routes.get(
    "/projects/:id/registry/repositories/:repository_id/tags",
    on=project_in_path,
    may=policy.may_read_images,
    returns=list[ContainerTagDetails],
    open=True,
    job_token=True,
)
def list_container_tags(call: Call, project: Project, page: Page) -> Listing[ContainerTagDetails]:
    """List the tags of a container repository."""
    repository = _repository(call, project)
    path, host = queries.repository_path(project.full_path, repository.name), registry_host(call.origin.base)
    listing = queries.list_tags(call.db, repository.id, page)
    return listing.of([tag_details(tag, path, host) for tag in listing.items])


@routes.delete(
    "/projects/:id/registry/repositories/:repository_id/tags",
    on=project_in_path,
    may=policy.may_delete_repositories,
    returns=None,
    status=202,
    job_token=True,
)
def delete_container_tags(call: Call, project: Project, params: DeleteContainerTags) -> None:
    """Delete the tags of a container repository that match patterns, by number and age."""
    repository = _repository(call, project)
    _require_deletion(call, project, repository)
    for tag in select_tags(queries.all_tags(call.db, repository.id), params, call.db.now):
        service.delete_tag(call.db, tag)


@routes.get(
    "/projects/:id/registry/repositories/:repository_id/tags/:tag_name",
    on=project_in_path,
    may=policy.may_read_images,
    returns=ContainerTagDetails,
    open=True,
    job_token=True,
)
def get_container_tag(call: Call, project: Project) -> ContainerTagDetails:
    """Get a tag of a container repository."""
    repository = _repository(call, project)
    tag = queries.find_tagged_manifest(call.db, repository.id, call.path["tag_name"])
    path = queries.repository_path(project.full_path, repository.name)
    return tag_details(tag, path, registry_host(call.origin.base))


@routes.delete(
    "/projects/:id/registry/repositories/:repository_id/tags/:tag_name",
    on=project_in_path,
    may=policy.may_push_images,
    returns=None,
    status=200,
    job_token=True,
)
def delete_container_tag(call: Call, project: Project) -> None:
    """Delete a tag of a container repository."""
    repository = _repository(call, project)
    _require_deletion(call, project, repository)
    service.delete_tag(call.db, _find_tag(call, repository))


@routes.get(
    "/projects/:id/registry/protection/repository/rules",
    on=project_in_path,
    may=policy.may_delete_repositories,
    returns=list[ContainerRuleView],
)
def list_container_rules(call: Call, project: Project, page: Page) -> Listing[ContainerRuleView]:
    """List the protection rules of container repositories."""
    listing = rules.list_container_rules(call.db, project.id, page)
    return listing.of([container_rule_view(rule) for rule in listing.items])


@routes.post(
    "/projects/:id/registry/protection/repository/rules",
    on=project_in_path,
    may=policy.may_delete_repositories,
    returns=ContainerRuleView,
    conflict=422,
)
def create_container_rule(call: Call, project: Project, params: CreateContainerRule) -> ContainerRuleView:
    """Create a protection rule of container repositories."""
    return container_rule_view(rules.create_container_rule(call.db, project, params))


@routes.patch(
    "/projects/:id/registry/protection/repository/rules/:protection_rule_id",
    on=project_in_path,
    may=policy.may_delete_repositories,
    returns=ContainerRuleView,
    conflict=422,
)
def edit_container_rule(call: Call, project: Project, params: EditContainerRule) -> ContainerRuleView:
    """Change a protection rule of container repositories."""
    rule = rules.find_container_rule(call.db, project.id, path_number(call.path, "protection_rule_id"))
    return container_rule_view(rules.edit_container_rule(call.db, project, rule, params))


@routes.delete(
    "/projects/:id/registry/protection/repository/rules/:protection_rule_id",
    on=project_in_path,
    may=policy.may_delete_repositories,
    returns=None,
    status=204,
)
def delete_container_rule(call: Call, project: Project) -> None:
    """Delete a protection rule of container repositories."""
    rule = rules.find_container_rule(call.db, project.id, path_number(call.path, "protection_rule_id"))
    call.db.delete(container_protection_rules, rule.id)


def _find_tag(call: Call, repository: ContainerRepository) -> ContainerTag:
    tag = queries.tag_or_none(call.db, repository.id, call.path["tag_name"])
    if tag is None:
        raise NotFound("Tag")
    return tag


def _require_deletion(call: Call, project: Project, repository: ContainerRepository) -> None:
    access, _ = find_project(call.db, call.actor, project.id)
    service.require_deletion_at_path(call.db, call.actor, access, project, repository.name)
