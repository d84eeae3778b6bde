"""Tests that methods which take a graph give the same results with kith's graph as with scikit-learn's."""

import warnings

import numpy as np
import pytest

import kith

pytest.importorskip("sklearn")
from sklearn.cluster import DBSCAN, OPTICS, SpectralClustering  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402
from sklearn.manifold import TSNE, Isomap, SpectralEmbedding  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier, LocalOutlierFactor  # noqa: E402
from sklearn.neighbors import KNeighborsTransformer as Theirs  # noqa: E402

from kith.sklearn import KNeighborsTransformer  # noqa: E402

X, LABELS = load_digits(return_X_y=True)
X, LABELS = X[:300], LABELS[:300]

CONSUMERS = {
    "tsne": lambda graph: TSNE(
        metric="precomputed", init="random", perplexity=5, max_iter=250, random_state=0
    ).fit_transform(graph),
    "isomap": lambda graph: Isomap(metric="precomputed", n_neighbors=20).fit_transform(graph),
    "dbscan": lambda graph: DBSCAN(eps=0.05, metric="precomputed").fit_predict(graph),
    "optics": lambda graph: OPTICS(metric="precomputed", max_eps=0.1).fit_predict(graph),
    "outliers": lambda graph: LocalOutlierFactor(metric="precomputed", n_neighbors=10).fit_predict(graph),
    "novelty": lambda graph: LocalOutlierFactor(metric="precomputed", n_neighbors=10, novelty=True)
    .fit(graph)
    .predict(graph),
    "spectral clustering": lambda graph: SpectralClustering(
        n_clusters=10, affinity="precomputed_nearest_neighbors", n_neighbors=10, random_state=0
    ).fit_predict(graph),
    "spectral embedding": lambda graph: SpectralEmbedding(
        affinity="precomputed_nearest_neighbors", n_neighbors=10, random_state=0
    ).fit_transform(graph),
    "classifier": lambda graph: KNeighborsClassifier(metric="precomputed", n_neighbors=5)
    .fit(graph, LABELS)
    .predict(graph),
}


def graph_by(transformer):
    return transformer(n_neighbors=30, metric="cosine", mode="distance").fit_transform(X)


@pytest.mark.parametrize("name", CONSUMERS)
def test_consumers_of_a_cosine_graph(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parts are not connected, as in scikit-learn's own graph
        mine = CONSUMERS[name](graph_by(KNeighborsTransformer))
        assert np.isfinite(mine).all()
        if mine.ndim == 1:  # labels; positions would amplify rounding
            assert (mine == CONSUMERS[name](graph_by(Theirs))).mean() > 0.99


def test_a_row_is_at_0_from_itself_and_no_distance_is_negative():
    graph = graph_by(KNeighborsTransformer)
    assert graph.data.min() == 0
    assert (graph.diagonal() == 0).all()
    assert [row[0] for row in np.split(graph.indices, graph.indptr[1:-1])] == list(range(len(X)))


@pytest.mark.parametrize("noise", [1e-2, 3e-3, 1e-3])
def test_near_duplicates_have_their_true_neighbours(noise):
    base = np.abs(np.random.default_rng(3).normal(size=1536))
    rows = (base + np.random.default_rng(4).normal(size=(1000, 1536)) * noise).astype(np.float32)
    unit = rows / np.linalg.norm(rows.astype(np.float64), axis=1)[:, None]
    found = kith.Index(rows, metric="cosine").search(rows[:100], 10)
    for query, row in enumerate(found.row):
        apart = ((unit - unit[query]) ** 2).sum(axis=1)
        assert set(row) == set(np.argsort(apart, kind="stable")[:10])
        assert row[0] == query
        assert found.distance[query, 0] == 0
