"""Find mistakes in manifests and patches: each check is a function in a registry."""
