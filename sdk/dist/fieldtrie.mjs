// Placeholder: the built module goes here.
