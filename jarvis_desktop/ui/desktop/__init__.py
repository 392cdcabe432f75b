"""Desktop integration: notifications, the tray, and commands of other processes."""
