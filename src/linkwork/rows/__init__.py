"""What the rows of constraints ask of a step, and who solves them, in any formulation."""
