"""OAuth 2 and OpenID Connect provider: applications, authorization codes, tokens and claims."""
