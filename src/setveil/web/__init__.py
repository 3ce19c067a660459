"""The page: the whole job in a browser, on one's own machine.

A door like the command line: it turns forms into jobs, has a process of its own run each verb, and
shows the reports. What it stores is in a folder that only the user can open."""
