"""Routes of the issue pages."""

from ingot.web.issues import actions, boards, form, labels, lists, milestones, show, todos

PAGES = tuple(module.pages for module in (lists, show, form, actions, labels, milestones, boards, todos))
