"""Whether a result may be believed: the proof, a merge by lines beside it, damage."""
