"""Read text as documents and nodes with exact spans, without any knowledge of Kubernetes."""
