"""Jobs on a full cluster: its storage, the chart as a release, the examples."""
