"""The storage of runs, caches, data and models: folders and object stores."""
