"""Merging: mergeability, merges at once or when the pipeline succeeds, rebasing, and removal of source branches.

See docs/subsystems/merging.md.
"""
