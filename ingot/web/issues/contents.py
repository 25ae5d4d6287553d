"""The pages of this room, for the door."""

from ingot.web.issues import acting, boards, labels, listing, milestones, showing, todos, writing

PAGES = tuple(room.pages for room in (listing, showing, writing, acting, labels, milestones, boards, todos))
