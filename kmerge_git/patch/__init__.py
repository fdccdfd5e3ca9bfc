"""Strategic merge patch and apply, on plain values."""
