"""All pages, for the index of modules and for tests; the server imports a package of pages with its first request."""

from collections.abc import Sequence
from importlib import import_module

from ingot.web.page_routes import PageRoutes

PAGE_MODULES = tuple(
    f"ingot.web.{package}.routes"
    for package in (
        "sign_in",
        "explore",
        "projects",
        "code",
        "ci",
        "packages",
        "discussions",
        "sidebar",
        "issues",
        "merge_requests",
        "groups",
        "webhooks",
        "snippets",
        "wikis",
        "imports",
        "profile",
        "oauth",
        "admin",
        "files",
    )
)
"""Modules with pages, each as its ``PAGES``."""
ALL_PAGES: Sequence[PageRoutes] = [pages for name in PAGE_MODULES for pages in import_module(name).PAGES]
