"""Payloads of group webhooks: subgroups and projects."""

from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project
from ingot.webhooks.payloads.parts import Payload
from ingot.webhooks.payloads.system import group_event, project_event


def subgroup_event(name: str, group: Namespace, parent: Namespace) -> Payload:
    """Return the payload of a created or deleted subgroup."""
    payload = group_event(name, group, None)
    return {
        **{key: value for key, value in payload.items() if not key.startswith("owner_")},
        "parent_group_id": parent.id,
        "parent_name": parent.name,
        "parent_path": parent.path,
        "parent_full_path": parent.full_path,
    }


def group_project_event(name: str, project: Project) -> Payload:
    """Return the payload of a created or deleted project of a group."""
    payload = project_event(name, project, None)
    return {
        **{key: value for key, value in payload.items() if not key.startswith("owner_")},
        "project_namespace_id": project.namespace_id,
    }
