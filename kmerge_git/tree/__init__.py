"""Text to documents to nodes with exact spans; knows no Kubernetes."""
