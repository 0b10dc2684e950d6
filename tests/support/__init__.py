"""What tests share: builders of items, tiny models, servers, reference implementations."""
