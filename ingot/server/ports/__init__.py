"""Functions that fill the ports, by the package that declares them: each imports the implementation of one port."""
