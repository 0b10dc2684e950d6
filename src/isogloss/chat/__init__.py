"""Chat models: prompts, back ends on this machine and behind an address, answers and how they are read."""
