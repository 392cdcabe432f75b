"""Small skills: clock, timers, calculator, memory, files, help."""
