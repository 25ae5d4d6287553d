"""The pages of this room, for the door."""

from ingot.web.groups import badges, home, members, settings, variables

PAGES = (home.pages, members.pages, settings.pages, variables.pages, badges.pages)
