"""A trained model in other forms."""
