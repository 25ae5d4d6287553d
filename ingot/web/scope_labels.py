"""Descriptions of token scopes for pages."""

SCOPE_DESCRIPTIONS = {
    "api": "Everything that you may do yourself, through the API",
    "read_user": "Read your profile and other users'",
    "read_api": "Read everything that you may see, through the API",
    "read_repository": "Clone and fetch repositories",
    "write_repository": "Clone, fetch and push",
    "sudo": "Act as other users (administrators only)",
    "openid": "Know who you are, and sign you in elsewhere",
    "profile": "Read your name, username and picture",
    "email": "Read your e-mail address",
}
