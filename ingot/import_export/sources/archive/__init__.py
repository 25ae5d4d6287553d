"""Source of imports: an archive that was written by the export of this server or of GitLab, or a git bundle."""
