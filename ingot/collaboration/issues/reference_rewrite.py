"""Rewriting of references in texts that are moved to another project."""

from collections.abc import Callable, Iterable
from itertools import chain, islice

from ingot.collaboration.issues.text_references import referenced_issues
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.references import MAX_REFERENCES, Reference, extract_references, full_project_path
from ingot.projects.projects.tables import Project

_WHOLE_OID = 40


def qualify_references(db: Connection, actor: Actor, home: Project, texts: Iterable[str]) -> Callable[[str], str]:
    """Return a function that adds the project's path to references in ``texts`` of a project.

    It rewrites references to merge requests, to commits by full id, and to issues that the actor may see.
    """
    own_path = home.full_path
    issues = (
        reference
        for reference in chain.from_iterable(map(extract_references, texts))
        if reference.kind == "issue" and _is_unqualified(reference)
    )
    lookups = referenced_issues(db, actor, own_path, islice(issues, MAX_REFERENCES), MAX_REFERENCES)
    visible_issues = {(lookup.project.full_path.lower(), lookup.issue.iid) for lookup in lookups}

    def must_qualify(reference: Reference) -> bool:
        if not _is_unqualified(reference):
            return False
        if reference.kind == "issue":
            return (full_project_path(reference, own_path).lower(), reference.number) in visible_issues
        return reference.kind == "merge_request" or (reference.kind == "commit" and len(reference.name) == _WHOLE_OID)

    def rename(text: str) -> str:
        pieces, done = [], 0
        for reference in extract_references(text):
            if must_qualify(reference):
                sign = "@" if reference.kind == "commit" and reference.project is None else ""
                pieces += [text[done : reference.start], full_project_path(reference, own_path), sign]
                done = reference.start + len(reference.project or "")
        return "".join(pieces) + text[done:]

    return rename


def _is_unqualified(reference: Reference) -> bool:
    """Return whether a reference has less than the full path of a project."""
    return reference.url is None and (reference.project is None or "/" not in reference.project)
