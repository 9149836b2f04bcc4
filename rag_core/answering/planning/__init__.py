"""What an agent plans and works with: a question's parts, its notebook of passages, and sums."""
