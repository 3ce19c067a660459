"""The screens of the page, one file for each step."""
