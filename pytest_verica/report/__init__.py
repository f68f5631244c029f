"""Reports of a run, each a pure function of its journal: totals, gates, and the documents made from them."""
