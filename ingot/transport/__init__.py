"""Git over HTTP and SSH, and Git LFS: authentication, authorization and transfer.

See docs/subsystems/refs-and-pushes.md.
"""
