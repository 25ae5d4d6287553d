"""The pages of this room, for the door."""

from ingot.web.discussions.ground import KINDS
from ingot.web.discussions.writing import talk_pages

PAGES = tuple(talk_pages(kind) for kind in KINDS)
