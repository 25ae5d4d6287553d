"""Existence of reactions, notes and links of many items, and parents of tasks, found with one GraphQL query.

The REST API lists them for each item separately and does not say which items have any. The queries are optional: a
GitLab that lacks a field, or GraphQL, refuses them, and the caller requests more lists.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ingot.import_export.source import SourceError
from ingot.import_export.sources.client import SourceClient

_QUERY = """query($path: ID!, $iids: [String!]%s) {
  project(fullPath: $path) { items: %s(iids: $iids, first: 100) { nodes { iid %s } } } }"""
_ITEM_AWARDS = "awardEmoji(first: 1) { nodes { name } }"
_NOTES = "notes(first: 100, after: $after) { nodes { id %s } pageInfo { hasNextPage endCursor } }"
# From the newest GitLab to the oldest one.
_FORMS = (f"{_ITEM_AWARDS} {_NOTES % _ITEM_AWARDS}", f"{_ITEM_AWARDS} {_NOTES % ''}", _NOTES % "")
_PARENT = "widgets { ... on WorkItemWidgetHierarchy { parent { iid namespace { fullPath } } } }"
_LINKS = "linkedWorkItems(first: 1) { nodes { linkType } }"


class ItemFacts(NamedTuple):
    """The iids of items with notes and with reactions, and the ids of notes with reactions.

    ``awarded`` is None if the source does not tell.
    """

    noted: set[int]
    awarded: set[int] | None
    awarded_notes: set[int]


class ItemFactReader:
    """Reader of the facts of one kind of items of a project, ``issues`` or ``mergeRequests``."""

    def __init__(self, client: SourceClient, full_path: str, field: str) -> None:
        self._client = client
        self._path = full_path
        self._field = field
        self._forms = list(_FORMS)
        self._links_known = True

    def facts(self, iids: Sequence[int]) -> ItemFacts | None:
        """Return what these items have; None if the source cannot tell."""
        while self._forms:
            nodes = self._query(self._forms[0], iids, after=None)
            if nodes is not None:
                return self._facts(nodes)
            del self._forms[0]
        return None

    def linked(self, iids: Sequence[int]) -> set[int] | None:
        """Return the iids of issues with links; None if the source cannot tell."""
        nodes = self._query(_LINKS, iids) if self._links_known else None
        if nodes is None:
            self._links_known = False
            return None
        return {int(node["iid"]) for node in nodes if node["linkedWorkItems"]["nodes"]}

    def parents(self, iids: Sequence[int]) -> dict[int, int]:
        """Return the iids of the issues of the project that contain these tasks, as far as the source tells."""
        nodes = self._query(_PARENT, iids, field="workItems") if iids else None
        return {
            int(node["iid"]): int(parent["iid"])
            for node in nodes or ()
            for widget in node["widgets"]
            # A group can contain items, too.
            if (parent := (widget or {}).get("parent")) and parent["namespace"]["fullPath"] == self._path
        }

    def _facts(self, nodes: Sequence[dict[str, Any]]) -> ItemFacts:
        awarded = {int(node["iid"]) for node in nodes if _has_awards(node)}
        notes = {int(node["iid"]): self._notes(node) for node in nodes}
        return ItemFacts(
            {iid for iid, found in notes.items() if found},
            awarded if "awardEmoji" in self._forms[0] else None,
            {
                int(str(note["id"]).rpartition("/")[2])
                for found in notes.values()
                for note in found
                if _has_awards(note)
            },
        )

    def _notes(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        """Return all notes of an item; further pages are needed only if reactions of notes are known."""
        page = node["notes"]
        notes = list(page["nodes"])
        while page["pageInfo"]["hasNextPage"] and self._forms[0] == _FORMS[0]:
            following = self._query(self._forms[0], [int(node["iid"])], after=page["pageInfo"]["endCursor"])
            if not following:
                break
            page = following[0]["notes"]
            notes += page["nodes"]
        return notes

    def _query(
        self, fields: str, iids: Sequence[int], field: str = "", **variables: str | None
    ) -> list[dict[str, Any]] | None:
        declared = "".join(f", ${name}: String" for name in variables)
        given = {"path": self._path, "iids": [str(iid) for iid in iids], **variables}
        document = {"query": _QUERY % (declared, field or self._field, fields), "variables": given}
        try:
            response = self._client.post("/api/graphql", document, dict[str, Any])
            nodes = response["data"]["project"]["items"]["nodes"]
            return msgspec.convert(nodes, list[dict[str, Any]])
        except SourceError as error:
            if error.retry_after is not None:
                raise
        except (KeyError, TypeError, ValueError):
            pass  # Errors of the query, or a source without the field.
        return None


def _has_awards(node: dict[str, Any]) -> bool:
    return bool((node.get("awardEmoji") or {}).get("nodes"))
