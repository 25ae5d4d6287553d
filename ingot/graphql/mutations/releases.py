"""Mutations of releases."""

from typing import Any

from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of
from ingot.graphql.locators import release_of_link
from ingot.graphql.mutations.inputs import Input, renamed
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()
_ROUTE = "/projects/:id/releases/:tag_name"


def _path(sent: Input) -> dict[str, Any]:
    return {"id": sent["projectPath"], "tag_name": sent["tagName"]}


def _link(sent: Input) -> dict[str, Any]:
    params = renamed(sent, name="name", url="url", direct_asset_path="directAssetPath")
    return params | ({"link_type": sent["linkType"].lower()} if sent.get("linkType") else {})


@resolvers.mutation("releaseCreate")
def create_release(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a release and, with ``ref``, its tag."""
    params = renamed(
        sent,
        tag_name="tagName",
        ref="ref",
        tag_message="tagMessage",
        name="name",
        description="description",
        released_at="releasedAt",
        milestones="milestones",
    )
    links = (sent.get("assets") or {}).get("links")
    if links:
        params["assets"] = {"links": [_link(link) for link in links]}
    return {"release": context.call("POST /projects/:id/releases", params, id=sent["projectPath"])}


@resolvers.mutation("releaseUpdate")
def update_release(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a release."""
    params = renamed(sent, name="name", description="description", released_at="releasedAt", milestones="milestones")
    return {"release": context.call(f"PUT {_ROUTE}", params, **_path(sent))}


@resolvers.mutation("releaseDelete")
def delete_release(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a release; its tag remains."""
    release = context.call(f"GET {_ROUTE}", **_path(sent))
    context.call(f"DELETE {_ROUTE}", **_path(sent))
    return {"release": release}


@resolvers.mutation("releaseAssetLinkCreate")
def create_link(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add a link to a release."""
    return {"link": context.call(f"POST {_ROUTE}/assets/links", _link(sent), **_path(sent))}


def _link_path(context: QueryContext, sent: Input) -> dict[str, Any]:
    number = number_of(sent["id"], "Releases::Link")
    project_id, tag_name = release_of_link(context, number)
    return {"id": project_id, "tag_name": tag_name, "link_id": number}


@resolvers.mutation("releaseAssetLinkUpdate")
def update_link(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a link of a release."""
    return {"link": context.call(f"PUT {_ROUTE}/assets/links/:link_id", _link(sent), **_link_path(context, sent))}


@resolvers.mutation("releaseAssetLinkDelete")
def delete_link(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Remove a link from a release."""
    return {"link": context.call(f"DELETE {_ROUTE}/assets/links/:link_id", **_link_path(context, sent))}
