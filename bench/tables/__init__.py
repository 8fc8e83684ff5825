"""Test scores of the smallest config's model on small tables, beside scikit-learn's."""
