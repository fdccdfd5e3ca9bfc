"""Check whether a result is right: the proof, the referee, a merge by lines, damage."""
