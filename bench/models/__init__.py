"""The model zoo beside hand-written programs: texts, images, cached embeddings, and three families of models."""
