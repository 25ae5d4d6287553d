"""Several nodes of one instance, as processes with their own directories; ``make cluster-test`` runs them."""
