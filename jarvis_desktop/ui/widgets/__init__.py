"""What every part of the window is made of: colours, type, icons, texts, small widgets."""
