"""Apply and make strategic merge patches, on plain values."""
