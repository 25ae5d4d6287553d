"""Groups together with the projects in them."""
