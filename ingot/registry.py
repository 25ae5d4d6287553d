"""Registry of the endpoints of the API and of the subscriptions of all packages."""

from functools import cache
from importlib.metadata import version
from typing import Any

import msgspec

from ingot.accounts.emails import api as emails
from ingot.accounts.features import api as features
from ingot.accounts.instance import api as instance
from ingot.accounts.keys import api as keys
from ingot.accounts.oauth import api as oauth
from ingot.accounts.oauth.subscribers import subscriptions as oauth_subscriptions
from ingot.accounts.sessions import api as sessions
from ingot.accounts.sessions.subscribers import subscriptions as session_subscriptions
from ingot.accounts.tokens import api as tokens
from ingot.accounts.tokens.subscribers import subscriptions as token_subscriptions
from ingot.accounts.users import api as users
from ingot.ci.artifacts import api as artifacts
from ingot.ci.downstream import api as downstream
from ingot.ci.downstream.subscribers import subscriptions as downstream_subscriptions
from ingot.ci.job_tokens import api as job_tokens
from ingot.ci.jobs import api as jobs
from ingot.ci.lint import api as lint
from ingot.ci.pipelines import api as pipelines
from ingot.ci.pipelines.subscribers import subscriptions as ci_pipeline_subscriptions
from ingot.ci.runner_protocol import api as runner_protocol
from ingot.ci.runners import api as runners
from ingot.ci.runners.subscribers import subscriptions as runner_subscriptions
from ingot.ci.schedules import api as schedules
from ingot.ci.schedules.subscribers import subscriptions as schedule_subscriptions
from ingot.ci.triggers import api as triggers
from ingot.collaboration.boards import api as boards
from ingot.collaboration.boards.subscribers import subscriptions as board_subscriptions
from ingot.collaboration.emoji.subscribers import subscriptions as emoji_subscriptions
from ingot.collaboration.issues import api as issues
from ingot.collaboration.issues.discussions import api as issue_discussions
from ingot.collaboration.issues.discussions.subject_events import subscriptions as issue_subject_subscriptions
from ingot.collaboration.issues.discussions.subscribers import subscriptions as issue_discussion_subscriptions
from ingot.collaboration.issues.links import api as issue_links
from ingot.collaboration.issues.links.subscribers import subscriptions as issue_link_subscriptions
from ingot.collaboration.issues.milestone_issues import api as milestone_issues
from ingot.collaboration.issues.milestone_issues.subscribers import subscriptions as milestone_issue_subscriptions
from ingot.collaboration.issues.positions import api as issue_positions
from ingot.collaboration.issues.subscribers import subscriptions as issue_subscriptions
from ingot.collaboration.labels import api as labels
from ingot.collaboration.labels.subscribers import subscriptions as label_subscriptions
from ingot.collaboration.merge_requests import api as merge_requests
from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions
from ingot.collaboration.merge_requests.discussions.subject_events import (
    subscriptions as merge_request_subject_subscriptions,
)
from ingot.collaboration.merge_requests.discussions.subscribers import (
    subscriptions as merge_request_discussion_subscriptions,
)
from ingot.collaboration.merge_requests.editing import api as merge_request_editing
from ingot.collaboration.merge_requests.editing.subscribers import subscriptions as merge_request_subscriptions
from ingot.collaboration.merge_requests.merge import api as merge
from ingot.collaboration.merge_requests.reviews import api as reviews
from ingot.collaboration.merge_requests.versions import api as versions
from ingot.collaboration.milestones import api as milestones
from ingot.collaboration.notes import api as notes
from ingot.collaboration.notes.subscribers import subscriptions as note_subscriptions
from ingot.collaboration.participants.subscribers import subscriptions as participant_subscriptions
from ingot.collaboration.releases import api as releases
from ingot.collaboration.resource_events.subscribers import subscriptions as resource_event_subscriptions
from ingot.collaboration.snippets import api as snippets
from ingot.collaboration.snippets.subscribers import subscriptions as snippet_subscriptions
from ingot.collaboration.todos import api as todos
from ingot.collaboration.todos.subscribers import subscriptions as todo_subscriptions
from ingot.core.access.rules import anyone
from ingot.core.api.openapi import openapi_document
from ingot.core.api.routes import Call, Endpoint, RawResponse, Routes
from ingot.discovery.activity import api as activity
from ingot.discovery.activity.subscribers import subscriptions as activity_subscriptions
from ingot.discovery.markdown import api as markdown
from ingot.discovery.notifications import api as notifications
from ingot.discovery.notifications.subscribers import subscriptions as notification_subscriptions
from ingot.discovery.search import api as search
from ingot.integrations.webhooks import api as webhooks
from ingot.integrations.webhooks.system import api as system_hooks
from ingot.integrations.webhooks.system.subscribers import subscriptions as system_hook_subscriptions
from ingot.offload import require_blocking_allowed
from ingot.projects.badges import api as badges
from ingot.projects.custom_attributes import api as custom_attributes
from ingot.projects.deploy_keys import api as deploy_keys
from ingot.projects.deploy_keys.subscribers import subscriptions as deploy_key_subscriptions
from ingot.projects.deploy_tokens import api as deploy_tokens
from ingot.projects.environments import api as environments
from ingot.projects.forks import api as forks
from ingot.projects.forks.subscribers import subscriptions as fork_subscriptions
from ingot.projects.group_projects import api as group_projects
from ingot.projects.groups import api as groups
from ingot.projects.groups.subscribers import subscriptions as group_subscriptions
from ingot.projects.imports import api as imports
from ingot.projects.imports.subscribers import subscriptions as import_subscriptions
from ingot.projects.namespaces import api as namespaces
from ingot.projects.namespaces.subscribers import subscriptions as namespace_subscriptions
from ingot.projects.projects import api as projects
from ingot.projects.projects.subscribers import subscriptions as project_subscriptions
from ingot.projects.services import api as services
from ingot.projects.sharing import api as sharing
from ingot.projects.sharing.subscribers import subscriptions as star_subscriptions
from ingot.projects.topics import api as topics
from ingot.projects.topics.subscribers import subscriptions as topic_subscriptions
from ingot.projects.uploads import api as uploads
from ingot.projects.variables import api as variables
from ingot.repositories.branches import api as branches
from ingot.repositories.commit_writing import api as commit_writing
from ingot.repositories.commits import api as commits
from ingot.repositories.comparisons import api as comparisons
from ingot.repositories.file_writing import api as file_writing
from ingot.repositories.files import api as files
from ingot.repositories.lfs import api as lfs
from ingot.repositories.lfs.subscribers import subscriptions as lfs_subscriptions
from ingot.repositories.pipelines.subscribers import subscriptions as pipeline_subscriptions
from ingot.repositories.protection import api as protection
from ingot.repositories.ref_changes.subscribers import subscriptions as ref_change_subscriptions
from ingot.repositories.statuses import api as statuses
from ingot.repositories.storage_moves import api as storage_moves
from ingot.repositories.tags import api as tags
from ingot.repositories.tags.subscribers import subscriptions as tag_subscriptions
from ingot.repositories.templates import api as templates
from ingot.repositories.trees import api as trees
from ingot.repositories.wikis import api as wikis
from ingot.web.live.subscribers import subscriptions as live_subscriptions

openapi_routes = Routes("documents")
ROUTE_MODULES = (
    users,
    tokens,
    sessions,
    keys,
    emails,
    oauth,
    namespaces,
    groups,
    projects,
    sharing,
    forks,
    imports,
    uploads,
    group_projects,
    branches,
    protection,
    tags,
    releases,
    commits,
    comparisons,
    statuses,
    notes,
    files,
    lfs,
    commit_writing,
    file_writing,
    trees,
    variables,
    deploy_tokens,
    deploy_keys,
    topics,
    badges,
    storage_moves,
    custom_attributes,
    environments,
    artifacts,
    job_tokens,
    jobs,
    pipelines,
    lint,
    schedules,
    triggers,
    downstream,
    runners,
    runner_protocol,
    instance,
    features,
    templates,
    labels,
    milestones,
    issues,
    milestone_issues,
    issue_positions,
    boards,
    issue_links,
    issue_discussions,
    todos,
    merge_requests,
    merge_request_editing,
    versions,
    merge_request_discussions,
    reviews,
    merge,
    snippets,
    wikis,
    activity,
    notifications,
    search,
    markdown,
    webhooks,
    system_hooks,
    services,
)
SUBSCRIPTIONS = (
    token_subscriptions,
    star_subscriptions,
    import_subscriptions,
    fork_subscriptions,
    topic_subscriptions,
    group_subscriptions,
    namespace_subscriptions,
    project_subscriptions,
    ref_change_subscriptions,
    pipeline_subscriptions,
    ci_pipeline_subscriptions,
    downstream_subscriptions,
    runner_subscriptions,
    schedule_subscriptions,
    note_subscriptions,
    label_subscriptions,
    issue_subscriptions,
    milestone_issue_subscriptions,
    board_subscriptions,
    issue_link_subscriptions,
    issue_discussion_subscriptions,
    issue_subject_subscriptions,
    merge_request_subject_subscriptions,
    todo_subscriptions,
    participant_subscriptions,
    activity_subscriptions,
    notification_subscriptions,
    merge_request_subscriptions,
    merge_request_discussion_subscriptions,
    emoji_subscriptions,
    resource_event_subscriptions,
    snippet_subscriptions,
    tag_subscriptions,
    deploy_key_subscriptions,
    lfs_subscriptions,
    session_subscriptions,
    oauth_subscriptions,
    system_hook_subscriptions,
    live_subscriptions,
)


def all_endpoints() -> list[Endpoint]:
    """Return every endpoint of the API."""
    return [endpoint for module in ROUTE_MODULES for endpoint in module.routes.endpoints] + openapi_routes.endpoints


@openapi_routes.get("/openapi.json", may=anyone, returns=RawResponse)
def get_openapi_document(call: Call) -> RawResponse:  # noqa: ARG001 - Every handler gets its call.
    """Get the OpenAPI document of this API."""
    return RawResponse(_document_json(), "application/json")


@cache
def _document_json() -> bytes:
    require_blocking_allowed()  # The first call takes half a second.
    return msgspec.json.encode(api_document())


@cache
def api_document() -> dict[str, Any]:
    """Return the OpenAPI document of all endpoints."""
    return openapi_document(all_endpoints(), version("ingot"))
