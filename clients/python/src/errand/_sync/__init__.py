# Written by scripts/clients.py. Do not edit.
