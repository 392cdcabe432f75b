"""The embedded planner: from words to a plan with no LLM."""
