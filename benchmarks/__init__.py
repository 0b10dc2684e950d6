"""Speed, measured as ratios in one run: ours, plain references that work as published code does, and peers."""
