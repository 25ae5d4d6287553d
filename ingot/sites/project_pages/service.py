"""State changes of the settings of sites."""

import secrets
from typing import Any
from urllib.parse import urlsplit

from msgspec import UNSET
from sqlalchemy import bindparam, update

from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.projects.namespaces.queries import namespace_by_path
from ingot.projects.projects.tables import Project
from ingot.sites.domains.queries import domain_of_project_or_none
from ingot.sites.project_pages.params import EditPages
from ingot.sites.project_pages.queries import pages_by_unique_domain, pages_of_project
from ingot.sites.project_pages.tables import project_pages

_LABEL_LENGTH = 56
_UPDATE = update(project_pages).where(project_pages.c.project_id == bindparam("project"))
_NOT_ASSIGNED = (
    "The `pages_primary_domain` attribute is missing from the domain list in the Pages project configuration. "
    "Assign `pages_primary_domain` to the Pages project or reset it."
)
_COLUMNS = ("unique_domain_enabled", "unique_domain", "https_only", "primary_domain")
_SET = _UPDATE.values({name: bindparam(f"new_{name}", type_=project_pages.c[name].type) for name in _COLUMNS})


def edit_pages(db: Connection, project: Project, params: EditPages) -> None:
    """Change settings; raise Invalid for a primary domain that the project does not have."""
    db.lock(f"pages of project {project.id}")
    stored = pages_of_project(db, project.id)
    row: dict[str, Any] = (
        dict.fromkeys(_COLUMNS, None) | {"unique_domain_enabled": False, "https_only": False}
        if stored is None
        else {name: getattr(stored, name) for name in _COLUMNS}
    )
    if params.pages_unique_domain_enabled is not UNSET:
        row["unique_domain_enabled"] = params.pages_unique_domain_enabled
        row["unique_domain"] = row["unique_domain"] or _unique_label(db, project)
    if params.pages_https_only is not UNSET:
        row["https_only"] = params.pages_https_only
    if params.pages_primary_domain is not UNSET:
        row["primary_domain"] = _primary_domain(db, project, params.pages_primary_domain or "")
    if stored is None:
        db.insert_row(project_pages, project_id=project.id, **row)
    else:
        db.run(_SET, project=project.id, **{f"new_{name}": value for name, value in row.items()})


def setting_values(db: Connection, project: Project) -> dict[str, Any]:
    """Return the settings by the names of the parameters, for the record of their changes."""
    stored = pages_of_project(db, project.id)
    return {
        "pages_unique_domain_enabled": stored is not None and stored.unique_domain_enabled,
        "pages_https_only": stored is not None and stored.https_only,
        "pages_primary_domain": stored.primary_domain if stored else None,
    }


def _primary_domain(db: Connection, project: Project, given: str) -> str | None:
    if not given.strip():
        return None
    host = _host_of(given)
    if not host or domain_of_project_or_none(db, project.id, host) is None:
        raise Invalid(_NOT_ASSIGNED)
    return host


def _host_of(text: str) -> str:
    """Return the host of a domain or URL."""
    try:
        return (urlsplit(text if "://" in text else f"//{text}").hostname or "").lower()
    except ValueError:
        return ""


def _unique_label(db: Connection, project: Project) -> str:
    """Return a label that nobody can guess or has: the path of the project and random characters."""
    name = "".join(character if character.isalnum() and character.isascii() else "-" for character in project.path)
    start = name.lower().strip("-")[:_LABEL_LENGTH].strip("-") or "site"
    while True:
        label = f"{start}-{secrets.token_hex(3)}"
        if namespace_by_path(db, label) is None and pages_by_unique_domain(db, label) is None:
            return label
