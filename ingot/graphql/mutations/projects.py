"""Mutations of projects, groups, repositories and of the caller's status."""

from typing import Any

from ingot.core.errors import Invalid, Unchanged
from ingot.graphql.context import QueryContext
from ingot.graphql.families.projects import CI_CD_SETTINGS, ci_cd_settings
from ingot.graphql.global_ids import number_of
from ingot.graphql.mutations.inputs import Input, renamed
from ingot.graphql.resolvers import Resolvers
from ingot.repositories.branches.change import INVALID_REF

resolvers = Resolvers()


@resolvers.mutation("projectCreate")
def create_project(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a project in a namespace, by default in that of the caller."""
    params = renamed(
        sent,
        name="name",
        path="path",
        description="description",
        visibility="visibility",
        initialize_with_readme="initializeWithReadme",
    )
    if sent.get("namespacePath"):
        params["namespace_id"] = context.call("GET /namespaces/:id", id=sent["namespacePath"]).id
    return {"project": context.call("POST /projects", params)}


@resolvers.mutation("projectUpdate")
def update_project(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a project, archive it or unarchive it."""
    params = renamed(
        sent,
        name="name",
        description="description",
        visibility="visibility",
        default_branch="defaultBranch",
        topics="topics",
    )
    if params:
        context.call("PUT /projects/:id", params, id=sent["fullPath"])
    if sent.get("archived") is not None:
        action = "archive" if sent["archived"] else "unarchive"
        context.call(f"POST /projects/:id/{action}", id=sent["fullPath"])
    return {"project": context.call("GET /projects/:id", id=sent["fullPath"])}


@resolvers.mutation("projectCiCdSettingsUpdate")
def update_ci_cd_settings(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Change the CI/CD settings of a project."""
    params = renamed(sent, **CI_CD_SETTINGS)
    if params:
        context.call("PUT /projects/:id", params, id=sent["fullPath"])
    return {"ci_cd_settings": ci_cd_settings(context.call("GET /projects/:id", id=sent["fullPath"]))}


@resolvers.mutation("projectDelete")
def delete_project(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a project."""
    context.call("DELETE /projects/:id", id=sent["fullPath"])
    return {"project": None}


@resolvers.mutation("starProject")
def star_project(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Star a project or remove the star."""
    number = number_of(sent["projectId"], "Project")
    try:
        context.call(f"POST /projects/:id/{'star' if sent['starred'] else 'unstar'}", id=number)
    except Unchanged:  # The caller has already done so.
        pass
    return {"count": str(context.call("GET /projects/:id", id=number).star_count)}


@resolvers.mutation("groupCreate")
def create_group(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a group or a subgroup."""
    params = renamed(sent, name="name", path="path", description="description", visibility="visibility")
    if sent.get("parentPath"):
        params["parent_id"] = context.call("GET /groups/:id", {"with_projects": False}, id=sent["parentPath"]).id
    return {"group": context.call("POST /groups", params)}


@resolvers.mutation("groupUpdate")
def update_group(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a group."""
    params = renamed(sent, name="name", path="path", visibility="visibility")
    return {"group": context.call("PUT /groups/:id", params, id=sent["fullPath"])}


@resolvers.mutation("groupDelete")
def delete_group(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a group with everything in it."""
    context.call("DELETE /groups/:id", id=sent["fullPath"])
    return {"group": None}


@resolvers.mutation("createBranch")
def create_branch(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a branch."""
    params = {"branch": sent["name"], "ref": sent["ref"]}
    try:
        return {"branch": context.call("POST /projects/:id/repository/branches", params, id=sent["projectPath"])}
    except Invalid as error:
        if str(error) != INVALID_REF:
            raise
        reason = f"invalid reference name '{sent['ref'][:100]}'"
        raise Invalid(f"Failed to create branch '{sent['name'][:100]}': {reason}") from None


@resolvers.mutation("branchDelete")
def delete_branch(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a branch."""
    path = {"id": sent["projectPath"], "branch": sent["name"]}
    branch = context.call("GET /projects/:id/repository/branches/:branch", **path)
    context.call("DELETE /projects/:id/repository/branches/:branch", **path)
    return {"branch": branch}


@resolvers.mutation("tagCreate")
def create_tag(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a tag."""
    params = renamed(sent, tag_name="name", ref="ref", message="message")
    return {"tag": context.call("POST /projects/:id/repository/tags", params, id=sent["projectPath"])}


@resolvers.mutation("tagDelete")
def delete_tag(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a tag."""
    path = {"id": sent["projectPath"], "tag_name": sent["name"]}
    tag = context.call("GET /projects/:id/repository/tags/:tag_name", **path)
    context.call("DELETE /projects/:id/repository/tags/:tag_name", **path)
    return {"tag": tag}


@resolvers.mutation("commitCreate")
def create_commit(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Commit changes of files."""
    actions = []
    for action in sent["actions"]:
        converted = renamed(
            action,
            file_path="filePath",
            content="content",
            previous_path="previousPath",
            last_commit_id="lastCommitId",
            execute_filemode="executeFilemode",
        )
        converted["action"] = action["action"].lower()
        if action.get("encoding"):
            converted["encoding"] = action["encoding"].lower()
        actions.append(converted)
    params = {
        **renamed(sent, branch="branch", commit_message="message", start_branch="startBranch"),
        "actions": actions,
    }
    commit = context.call("POST /projects/:id/repository/commits", params, id=sent["projectPath"])
    return {"commit": commit, "content": [action.get("content") for action in sent["actions"]]}


@resolvers.mutation("userStatusUpdate")
def update_status(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Set the caller's status."""
    params = renamed(sent, emoji="emoji", message="message")
    if sent.get("availability"):
        params["availability"] = sent["availability"].lower()
    return {"user_status": context.call("PATCH /user/status", params)}
