"""Descriptions of token scopes for pages."""

SCOPE_DESCRIPTIONS = {
    "api": "Full access to the API with your permissions",
    "read_user": "Read your profile and the profiles of other users",
    "read_api": "Read-only access to the API",
    "read_repository": "Read-only access to repositories",
    "write_repository": "Read and write access to repositories",
    "read_registry": "Read container images and packages",
    "write_registry": "Read and write container images and packages",
    "create_runner": "Create runners",
    "admin_mode": "Administer the instance",
    "k8s_proxy": "Use clusters through the agent",
    "ai_features": "Use AI features",
    "sudo": "Act as other users (administrators only)",
    "openid": "Sign you in with OpenID Connect",
    "profile": "Read your name, username and avatar",
    "email": "Read your email address",
}
