"""Markdown: what a text refers to, and how it is shown; pure, so that every room can use it."""
