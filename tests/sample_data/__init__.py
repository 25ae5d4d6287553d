"""An instance with something on each of its pages, and the addresses of all of them."""
