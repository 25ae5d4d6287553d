"""Routes of the administration pages."""

from ingot.web.admin import impersonation, overview, projects_and_groups, settings, users

PAGES = (overview.pages, users.pages, impersonation.pages, projects_and_groups.pages, settings.pages)
