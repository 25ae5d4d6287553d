"""Routes of the explore pages."""

from ingot.web.explore import activity, dashboard, help, previews, search

PAGES = (activity.pages, help.pages, dashboard.pages, search.pages, previews.pages)
