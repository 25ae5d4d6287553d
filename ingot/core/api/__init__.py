"""The API's kernel: endpoints as data, and everything that is the same for all of them."""
