// Placeholder: the built script goes here.
