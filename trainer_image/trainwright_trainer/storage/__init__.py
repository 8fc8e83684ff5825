"""Where runs, caches, data and models lie: folders and object stores."""
