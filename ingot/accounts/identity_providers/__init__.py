"""External identity providers (OpenID Connect, LDAP), and the accounts that belong to their identities."""
