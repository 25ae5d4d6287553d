"""Routes of the explore pages."""

from ingot.web.explore import activity, dashboard, feeds, help, previews, search

PAGES = (activity.pages, feeds.pages, help.pages, dashboard.pages, search.pages, previews.pages)
