"""What works on this computer, what does not, and what to do: for the terminal and the window."""
