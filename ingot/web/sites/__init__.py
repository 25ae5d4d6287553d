"""Pages about static sites: their settings, and the sign-in for those that not everyone may see."""
