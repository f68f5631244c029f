"""The specification of an eval: what a user writes, checked. Never runs anything."""
