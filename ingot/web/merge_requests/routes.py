"""Routes of the merge request pages."""

from ingot.web.merge_requests import actions, changes, conflicts, edit, lists, new, review, show

PAGES = (
    lists.pages,
    new.pages,
    show.pages,
    changes.pages,
    review.pages,
    conflicts.pages,
    edit.pages,
    actions.pages,
)
