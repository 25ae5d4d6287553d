"""Routes of files and the API documentation."""

from ingot.web.files import api_docs, avatars, static, uploads, wiki_files

PAGES = (avatars.pages, uploads.pages, wiki_files.pages, api_docs.pages, static.pages)
