"""Doors to model APIs: one file per provider. The only place where a key is read and a model is called."""
