"""A data set in a new language: translators, repairs, review sheets, and what is published."""
