"""One file per task type: what it takes and gives, and how it is done with nothing downloaded."""
