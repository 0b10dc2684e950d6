"""Asking chat models: prompts, back ends on this machine and behind an address, and a journal of every answer."""
