"""Files and folders that appear whole or not at all, and work that leaves nothing behind."""

from setveil.disk.output import check_place, listed_files, new_file, new_folder
from setveil.disk.room import is_full, naming, private_folder

__all__ = [
    "check_place",
    "is_full",
    "listed_files",
    "naming",
    "new_file",
    "new_folder",
    "private_folder",
]
