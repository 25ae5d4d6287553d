"""Programs that act for people: applications, codes and tokens of OAuth 2, and who somebody is by OpenID Connect."""
