"""Changes of settings of the instance, groups and projects: who changed what, when, from and to which value."""
