"""The pages of this room, for the door."""

from ingot.web.facts.editing import fact_pages
from ingot.web.facts.subjects import SORTS

PAGES = tuple(fact_pages(sort) for sort in SORTS)
