"""What several processes of one instance must not do to each other."""
