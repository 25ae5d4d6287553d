"""OAuth 2.0 and OpenID Connect provider: applications, authorization and tokens."""
