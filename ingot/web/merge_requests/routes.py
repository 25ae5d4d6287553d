"""Routes of the merge request pages."""

from ingot.web.merge_requests import actions, changes, edit, lists, new, show

PAGES = (lists.pages, new.pages, show.pages, changes.pages, edit.pages, actions.pages)
