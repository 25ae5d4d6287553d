"""Routes of the group pages."""

from ingot.web.groups import access_tokens, badges, exports, home, members, settings, variables

PAGES = (home.pages, members.pages, settings.pages, variables.pages, access_tokens.pages, badges.pages, exports.pages)
