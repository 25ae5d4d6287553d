"""Repositories as API resources: branches, tags, commits, files, protection, statuses, wikis, LFS."""
