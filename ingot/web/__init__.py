"""HTML pages for browsers; they call the API's endpoints in process.

See docs/subsystems/pages.md.
"""
