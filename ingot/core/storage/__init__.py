"""Storage of files on the disk or in an S3-compatible bucket.

See docs/subsystems/storage.md.
"""
