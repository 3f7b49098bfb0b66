// Placeholder: the code of another party goes here.
