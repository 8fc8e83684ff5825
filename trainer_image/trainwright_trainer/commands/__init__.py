"""The commands of the command line with subjects of their own: the cache, clusters, comparisons and exports."""
