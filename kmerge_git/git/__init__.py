"""Read and change git repositories."""
