"""SCALER, the two levels of a library: documents in clusters, and the chunks of each document in clusters.

Every document has a summary and clusters of its chunks; summaries are clustered in turn. A search looks at summaries
and centroids first, and then, with a query that is moved towards what it found, at the chunks inside.
"""
