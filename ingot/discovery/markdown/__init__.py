"""Renderings: markdown as HTML, with what it refers to found among all that the house holds."""
