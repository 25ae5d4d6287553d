"""Routes of the profile pages."""

from ingot.web.profile import (
    account,
    emails,
    keys,
    passkeys,
    preferences,
    public_profile,
    redirects,
    sessions,
    two_factor,
)

PAGES = (
    account.pages,
    public_profile.pages,
    emails.pages,
    keys.pages,
    preferences.pages,
    two_factor.pages,
    passkeys.pages,
    sessions.pages,
    redirects.pages,
)
