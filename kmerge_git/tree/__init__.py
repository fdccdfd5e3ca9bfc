"""Read text as documents and nodes with exact spans; know nothing of Kubernetes."""
