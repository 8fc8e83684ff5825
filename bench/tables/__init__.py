"""How good the model of the smallest file is, on small tables, beside scikit-learn's."""
