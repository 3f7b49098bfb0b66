// Placeholder: the script of the demo goes here.
