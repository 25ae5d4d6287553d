"""Mutations of snippets."""

from typing import Any

from ingot.graphql.context import QueryContext
from ingot.graphql.families.snippets import SNIPPET_MODELS, snippet_by_id
from ingot.graphql.global_ids import number_of
from ingot.graphql.locators import snippet_path
from ingot.graphql.mutations.inputs import Input, renamed
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()


def _file(action: dict[str, Any]) -> dict[str, Any]:
    return renamed(action, action="action", file_path="filePath", content="content", previous_path="previousPath")


@resolvers.mutation("createSnippet")
def create_snippet(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a personal snippet or a snippet of a project."""
    params = renamed(sent, title="title", description="description", visibility="visibilityLevel")
    files = [_file(action) for action in sent.get("blobActions") or []]
    params["files"] = [{name: each[name] for name in ("file_path", "content") if name in each} for each in files]
    if sent.get("projectPath"):
        return {"snippet": context.call("POST /projects/:id/snippets", params, id=sent["projectPath"])}
    return {"snippet": context.call("POST /snippets", params)}


@resolvers.mutation("updateSnippet")
def update_snippet(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a snippet and its files."""
    place = snippet_path(context, number_of(sent["id"], *SNIPPET_MODELS))
    params = renamed(sent, title="title", description="description", visibility="visibilityLevel")
    if sent.get("blobActions"):
        params["files"] = [_file(action) for action in sent["blobActions"]]
    return {"snippet": context.call(f"PUT {place.route}", params, **place.path)}


@resolvers.mutation("destroySnippet")
def destroy_snippet(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a snippet."""
    number = number_of(sent["id"], *SNIPPET_MODELS)
    snippet_by_id(context, number)
    place = snippet_path(context, number)
    context.call(f"DELETE {place.route}", **place.path)
    return {"snippet": None}
