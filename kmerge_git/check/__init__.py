"""Find mistakes in manifests and patches: each check is a function, and a registry knows them."""
