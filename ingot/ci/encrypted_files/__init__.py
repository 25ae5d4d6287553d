"""Files that are encrypted with the secret of the instance."""
