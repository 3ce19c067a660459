"""Files and folders that appear whole or not at all, and work that leaves nothing behind."""

from setveil.disk.limits import bytes_of, unpacked_limit, whole_lines
from setveil.disk.output import check_place, listed_files, new_file, new_folder, sync
from setveil.disk.texts import read_text
from setveil.disk.workplace import is_full, naming, private_folder

__all__ = [
    "bytes_of",
    "check_place",
    "is_full",
    "listed_files",
    "naming",
    "new_file",
    "new_folder",
    "private_folder",
    "read_text",
    "sync",
    "unpacked_limit",
    "whole_lines",
]
