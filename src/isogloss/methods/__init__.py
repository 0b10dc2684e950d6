"""Scoring methods: one file each; a method turns an item into questions and the answers into scores."""
