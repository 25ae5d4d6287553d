"""Which rooms there are: the endpoints that the API is made of, and who hears of what happens in others."""

from functools import cache
from importlib.metadata import version
from typing import Any

import msgspec

from ingot.access.rules import anyone
from ingot.activity import api as activity
from ingot.activity.subscribers import subscriptions as activity_subscriptions
from ingot.api.openapi import openapi_document
from ingot.api.routes import Call, Endpoint, Raw, Routes
from ingot.badges import api as badges
from ingot.boards import api as boards
from ingot.boards.subscribers import subscriptions as board_subscriptions
from ingot.custom_attributes import api as custom_attributes
from ingot.deploy_keys import api as deploy_keys
from ingot.deploy_keys.subscribers import subscriptions as deploy_key_subscriptions
from ingot.deploy_tokens import api as deploy_tokens
from ingot.emoji.subscribers import subscriptions as emoji_subscriptions
from ingot.environments import api as environments
from ingot.features import api as features
from ingot.groups import api as groups
from ingot.groups.namespaces import api as namespaces
from ingot.groups.namespaces.subscribers import subscriptions as namespace_subscriptions
from ingot.groups.subscribers import subscriptions as group_subscriptions
from ingot.histories.subscribers import subscriptions as history_subscriptions
from ingot.hooks import api as hooks
from ingot.hooks.instance import api as system_hooks
from ingot.hooks.instance.subscribers import subscriptions as system_hook_subscriptions
from ingot.instance import api as instance
from ingot.involvement.subscribers import subscriptions as involvement_subscriptions
from ingot.issues import api as issues
from ingot.issues.links import api as issue_links
from ingot.issues.links.subscribers import subscriptions as issue_link_subscriptions
from ingot.issues.planning import api as issue_planning
from ingot.issues.planning.subscribers import subscriptions as issue_planning_subscriptions
from ingot.issues.subscribers import subscriptions as issue_subscriptions
from ingot.issues.talk import api as issue_talk
from ingot.issues.talk.involving import subscriptions as issue_involving_subscriptions
from ingot.issues.talk.subscribers import subscriptions as issue_talk_subscriptions
from ingot.labels import api as labels
from ingot.labels.subscribers import subscriptions as label_subscriptions
from ingot.lfs import api as lfs
from ingot.lfs.subscribers import subscriptions as lfs_subscriptions
from ingot.merge_requests import api as merge_requests
from ingot.merge_requests.merging import api as merging
from ingot.merge_requests.talk import api as merge_request_talk
from ingot.merge_requests.talk.involving import subscriptions as merge_request_involving_subscriptions
from ingot.merge_requests.talk.subscribers import subscriptions as merge_request_talk_subscriptions
from ingot.merge_requests.upkeep import api as merge_request_upkeep
from ingot.merge_requests.upkeep.subscribers import subscriptions as merge_request_subscriptions
from ingot.merge_requests.versions import api as versions
from ingot.milestones import api as milestones
from ingot.notes import api as notes
from ingot.notes.subscribers import subscriptions as note_subscriptions
from ingot.notifications import api as notifications
from ingot.notifications.subscribers import subscriptions as notification_subscriptions
from ingot.oauth import api as oauth
from ingot.oauth.subscribers import subscriptions as oauth_subscriptions
from ingot.projects import api as projects
from ingot.projects.forks import api as forks
from ingot.projects.forks.subscribers import subscriptions as fork_subscriptions
from ingot.projects.imports import api as imports
from ingot.projects.imports.subscribers import subscriptions as import_subscriptions
from ingot.projects.of_groups import api as of_groups
from ingot.projects.people import api as people
from ingot.projects.people.subscribers import subscriptions as star_subscriptions
from ingot.projects.subscribers import subscriptions as project_subscriptions
from ingot.projects.uploads import api as uploads
from ingot.releases import api as releases
from ingot.renderings import api as renderings
from ingot.renderings.subscribers import subscriptions as rendering_subscriptions
from ingot.repository.branches import api as branches
from ingot.repository.changes.subscribers import subscriptions as change_subscriptions
from ingot.repository.commits import api as commits
from ingot.repository.comparing import api as comparing
from ingot.repository.files import api as repository_files
from ingot.repository.filing import api as filing
from ingot.repository.making import api as making
from ingot.repository.pipelines.subscribers import subscriptions as pipeline_subscriptions
from ingot.repository.protection import api as protection
from ingot.repository.tags import api as tags
from ingot.repository.tags.subscribers import subscriptions as tag_subscriptions
from ingot.repository.trees import api as trees
from ingot.runners import api as runners
from ingot.search import api as search
from ingot.services import api as services
from ingot.snippets import api as snippets
from ingot.snippets.subscribers import subscriptions as snippet_subscriptions
from ingot.statuses import api as statuses
from ingot.templates import api as templates
from ingot.todos import api as todos
from ingot.todos.subscribers import subscriptions as todo_subscriptions
from ingot.topics import api as topics
from ingot.topics.subscribers import subscriptions as topic_subscriptions
from ingot.triggers import api as triggers
from ingot.users.accounts import api as accounts
from ingot.users.emails import api as emails
from ingot.users.keys import api as keys
from ingot.users.sessions import api as sessions
from ingot.users.sessions.subscribers import subscriptions as session_subscriptions
from ingot.users.tokens import api as tokens
from ingot.users.tokens.subscribers import subscriptions as token_subscriptions
from ingot.variables import api as variables
from ingot.wikis import api as wikis

own_routes = Routes("documents")
ROOMS = (
    accounts,
    tokens,
    sessions,
    keys,
    emails,
    oauth,
    namespaces,
    groups,
    projects,
    people,
    forks,
    imports,
    uploads,
    of_groups,
    branches,
    protection,
    tags,
    releases,
    commits,
    comparing,
    statuses,
    notes,
    repository_files,
    lfs,
    making,
    filing,
    trees,
    variables,
    deploy_tokens,
    deploy_keys,
    topics,
    badges,
    custom_attributes,
    environments,
    triggers,
    runners,
    instance,
    features,
    templates,
    labels,
    milestones,
    issues,
    issue_planning,
    boards,
    issue_links,
    issue_talk,
    todos,
    merge_requests,
    merge_request_upkeep,
    versions,
    merge_request_talk,
    merging,
    snippets,
    wikis,
    activity,
    notifications,
    search,
    renderings,
    hooks,
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
    change_subscriptions,
    pipeline_subscriptions,
    note_subscriptions,
    label_subscriptions,
    issue_subscriptions,
    issue_planning_subscriptions,
    board_subscriptions,
    issue_link_subscriptions,
    issue_talk_subscriptions,
    issue_involving_subscriptions,
    merge_request_involving_subscriptions,
    todo_subscriptions,
    involvement_subscriptions,
    activity_subscriptions,
    notification_subscriptions,
    merge_request_subscriptions,
    merge_request_talk_subscriptions,
    emoji_subscriptions,
    history_subscriptions,
    snippet_subscriptions,
    tag_subscriptions,
    deploy_key_subscriptions,
    lfs_subscriptions,
    session_subscriptions,
    oauth_subscriptions,
    rendering_subscriptions,
    system_hook_subscriptions,
)


def all_endpoints() -> list[Endpoint]:
    """Every endpoint of the API."""
    return [endpoint for room in ROOMS for endpoint in room.routes.endpoints] + own_routes.endpoints


@own_routes.get("/openapi.json", may=anyone, returns=Raw)
def get_openapi_document(call: Call) -> Raw:  # noqa: ARG001 - Every handler gets its call.
    """Get the OpenAPI document of this API."""
    return Raw(msgspec.json.encode(api_document()), "application/json")


@cache
def api_document() -> dict[str, Any]:
    """The OpenAPI document of all of them."""
    return openapi_document(all_endpoints(), version("ingot"))
