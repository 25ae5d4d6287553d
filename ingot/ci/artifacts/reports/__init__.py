"""Parsers of the reports that jobs upload."""
