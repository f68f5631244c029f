"""Before launch: what a run would ask of which models, what that would cost, and whether they can be asked."""
