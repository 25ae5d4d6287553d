"""Who somebody is elsewhere, at an OpenID Connect provider or in a directory, and which account they have here."""
