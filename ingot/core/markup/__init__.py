"""Markdown: parsing, references, rendering and sanitizing; pure functions without database access."""
