"""How fast and how hungry: `make bench` prints one table; every case runs in a process of its
own, compared with a plain baseline."""
