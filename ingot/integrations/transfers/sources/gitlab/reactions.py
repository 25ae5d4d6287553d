"""Items and notes that have reactions, found with one GraphQL query for many of them.

The REST API lists the reactions of each item and each note separately and does not say which have any. Both queries
are optional: a GitLab that lacks a field, or GraphQL, refuses them, and the caller uses the REST API's counts.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.integrations.transfers.source import SourceError
from ingot.integrations.transfers.sources.client import SourceClient

_ITEMS = """query($path: ID!, $iids: [String!]) {
  project(fullPath: $path) { items: %s(iids: $iids, first: 100) {
    nodes { iid awardEmoji(first: 1) { nodes { name } } } } } }"""
_NOTES = """query($path: ID!, $iids: [String!]) {
  project(fullPath: $path) { items: %s(iids: $iids, first: 100) {
    nodes { iid notes(filter: ONLY_COMMENTS, first: 100) {
      nodes { id awardEmoji(first: 1) { nodes { name } } } pageInfo { hasNextPage } } } } } }"""


class Reactions:
    """Reactions of one kind of items of a project, ``issues`` or ``mergeRequests``."""

    def __init__(self, client: SourceClient, full_path: str, field: str) -> None:
        self._client = client
        self._path = full_path
        self._field = field
        self._items_known = self._notes_known = True

    def items(self, iids: Sequence[int]) -> set[int] | None:
        """Return the iids of those that have reactions; None if the source cannot tell."""
        nodes = self._query(_ITEMS, iids) if self._items_known else None
        if nodes is None:
            self._items_known = False
            return None
        return {int(node["iid"]) for node in nodes if node["awardEmoji"]["nodes"]}

    def notes(self, iids: Sequence[int]) -> set[int] | None:
        """Return the ids of notes on these items that have reactions; None if the source cannot tell.

        Of an item with more than 100 notes only the first 100 are considered.
        """
        if not iids:
            return set()
        nodes = self._query(_NOTES, iids) if self._notes_known else None
        if nodes is None:
            self._notes_known = False
            return None
        return {
            int(str(note["id"]).rpartition("/")[2])
            for node in nodes
            for note in node["notes"]["nodes"]
            if note["awardEmoji"] and note["awardEmoji"]["nodes"]
        }

    def _query(self, query: str, iids: Sequence[int]) -> list[dict[str, Any]] | None:
        variables = {"path": self._path, "iids": [str(iid) for iid in iids]}
        document = {"query": query % self._field, "variables": variables}
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
