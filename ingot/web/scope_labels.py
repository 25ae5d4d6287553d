"""Descriptions of token scopes for pages."""

from collections.abc import Iterable

from ingot.core.access.scopes import SCOPES_WITHOUT_EFFECT

SCOPE_DESCRIPTIONS = {
    "api": "Full access to the API with your permissions",
    "read_user": "Read your profile and the profiles of other users",
    "read_api": "Read-only access to the API",
    "read_repository": "Read-only access to repositories",
    "write_repository": "Read and write access to repositories",
    "read_registry": "Read container images and packages",
    "write_registry": "Read and write container images and packages",
    "create_runner": "Create runners",
    "manage_runner": "Read, change and delete runners",
    "admin_mode": "Administer the instance",
    "k8s_proxy": "Use clusters through the agent",
    "ai_features": "Use AI features",
    "self_rotate": "Rotate the token itself",
    "mcp": "Work with the tools of the Model Context Protocol, with your permissions",
    "sudo": "Act as other users (administrators only)",
    "openid": "Sign you in with OpenID Connect",
    "profile": "Read your name, username and avatar",
    "email": "Read your email address",
}
DEPLOY_SCOPE_DESCRIPTIONS = {
    "read_repository": "Read-only access to repositories",
    "read_registry": "Read container images",
    "write_registry": "Read and write container images",
    "read_package_registry": "Read packages",
    "write_package_registry": "Write packages",
}


def offered_scopes(scopes: Iterable[str]) -> list[tuple[str, str]]:
    """Return the scopes that a form offers, with their descriptions: those that have an effect."""
    return [(scope, SCOPE_DESCRIPTIONS[scope]) for scope in scopes if scope not in SCOPES_WITHOUT_EFFECT]
