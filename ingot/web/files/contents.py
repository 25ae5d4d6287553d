"""The pages of this room, for the door."""

from ingot.web.files import avatars, documents, static, uploads, wiki_files

PAGES = (avatars.pages, uploads.pages, wiki_files.pages, documents.pages, static.pages)
