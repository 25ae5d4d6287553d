"""Descriptions of token scopes for pages."""

SCOPE_DESCRIPTIONS = {
    "api": "Full access to the API with your permissions",
    "read_user": "Read your profile and the profiles of other users",
    "read_api": "Read-only access to the API",
    "read_repository": "Read-only access to repositories",
    "write_repository": "Read and write access to repositories",
    "sudo": "Act as other users (administrators only)",
    "openid": "Sign you in with OpenID Connect",
    "profile": "Read your name, username and avatar",
    "email": "Read your email address",
}
