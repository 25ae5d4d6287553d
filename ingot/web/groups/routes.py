"""Routes of the group pages."""

from ingot.web.groups import badges, home, members, settings, variables

PAGES = (home.pages, members.pages, settings.pages, variables.pages, badges.pages)
