"""Merge files that SOPS or Ansible Vault encrypted, so that a clean result can be decrypted."""
