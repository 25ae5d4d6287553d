"""Git over HTTP and SSH, and Git LFS: authentication, authorization and transfer."""
