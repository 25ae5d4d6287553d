"""Files for browsers and programs alike, and the API's own description."""
