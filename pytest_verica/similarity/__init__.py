"""How alike two texts are, from 0 to 1: by letters, by runs of words, by the angle between two vectors. Pure."""
