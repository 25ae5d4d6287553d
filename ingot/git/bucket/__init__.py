"""Repositories in a bucket: refs in rows, packs in an object store, copies on local disks.

See docs/decisions/0017-repositories-in-a-bucket.md.
"""
