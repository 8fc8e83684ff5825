"""What is made from the models: the CRD and the reference page."""
