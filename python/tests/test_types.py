"""Tests what editors and type checkers know of kith, by mypy if installed, and by typing.get_type_hints."""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import kith
import kith.faiss
import kith.files
import numpy as np
import pytest
from kith._core import _metrics, _types

ROWS = np.eye(4, dtype=np.float32)
FIRST = """
from typing import Any, Union
import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type
from kith._core._types import Arithmetic, MetricName
import kith, kith.faiss, kith.files
from kith.sklearn import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors, RadiusNeighborsClassifier
from kith.sklearn import RadiusNeighborsRegressor, KNeighborsTransformer, RadiusNeighborsTransformer, kneighbors_graph

x = np.eye(4, dtype=np.float32)
index = kith.Index(x, "l2", "cuda:0+cuda:1")
found, near = index.search(x, 2), index.within(x, 1.0)
voter, mean = kith.Classifier(x, [0, 1, 0, 1], "ip"), kith.Regressor(x, [1.0, 2, 3, 4], metric="euclidean")
model, mean_model = KNeighborsClassifier(n_neighbors=3), KNeighborsRegressor(metric="minkowski", p=1)
by_radius, nearest = RadiusNeighborsClassifier(weights="distance"), NearestNeighbors(device=kith.Device("cpu"))
keys, radius_keys = index.search_keys(x, 2), index.within_keys(x, 1.0)
flat = kith.faiss.IndexFlatL2(4)
"""
# Expressions and the types that a checker must infer.
KNOWN = {
    "found.row": "NDArray[np.int64]",
    "found.distance": "Union[NDArray[np.float32], NDArray[np.float64]]",
    "found": "kith.Neighbors",
    "near.first": "NDArray[np.int64]",
    "near.row": "NDArray[np.int64]",
    "near.distance": "Union[NDArray[np.float32], NDArray[np.float64]]",
    "kith.knn(x, x, 1).row": "NDArray[np.int64]",
    "kith.knn_graph(x, 1).row": "NDArray[np.int64]",
    "index.with_(x).without([1]).compact()": "kith.Index",
    "index.numbers()": "NDArray[np.int64]",
    "kith.Index('a.npy')": "kith.Index",
    "keys.value": "Union[NDArray[np.uint32], NDArray[np.uint64]]",
    "keys.row": "NDArray[np.int64]",
    "radius_keys.first": "NDArray[np.int64]",
    "kith.merge([keys])": "kith.Keys",
    "kith.finish(index.metric, keys).row": "NDArray[np.int64]",
    "kith.finish(index.metric, radius_keys).first": "NDArray[np.int64]",
    "voter.predict(x, 3)": "NDArray[np.int64]",
    "mean.predict(x, 3)": "NDArray[np.float64]",
    "voter.with_(x, [1])": "kith.Classifier",
    "mean.without([1])": "kith.Regressor",
    "model.fit(x, [1])": "KNeighborsClassifier",
    "mean_model.fit(x, [1])": "KNeighborsRegressor",
    "RadiusNeighborsRegressor().fit(x, [1])": "RadiusNeighborsRegressor",
    "RadiusNeighborsRegressor().fit(x, [1]).predict(x)": "NDArray[np.float64]",
    "by_radius.fit(x, [1])": "RadiusNeighborsClassifier",
    "nearest.fit(x)": "NearestNeighbors",
    "KNeighborsTransformer().fit(x)": "KNeighborsTransformer",
    "RadiusNeighborsTransformer().fit(x)": "RadiusNeighborsTransformer",
    "mean_model.predict(x)": "NDArray[np.float64]",
    "model.predict(x)": "NDArray[Any]",
    "nearest.kneighbors(x)[0]": "NDArray[np.float64]",
    "nearest.kneighbors(x)[1]": "NDArray[np.int64]",
    "nearest.kneighbors(x, return_distance=False)": "NDArray[np.int64]",
    "nearest.radius_neighbors(x)[1]": "NDArray[Any]",
    "flat.search(x, 2)[0]": "NDArray[np.float32]",
    "flat.range_search(x, 2)[0]": "NDArray[np.uint64]",
    "kith.faiss.knn(x, x, 2)[1]": "NDArray[np.int64]",
    "kith.files.open_groundtruth('a.ibin').rows": "NDArray[np.int32]",
    "kith.metrics()[0]": "MetricName",
    "index.device": "kith.Device",
    "index.arithmetic": "Arithmetic",
}
WRONG = [
    "kith.Index(x, 'euclid')",
    "kith.Index(x, metric='L2')",
    "kith.Index(x, element='byte')",
    "kith.Index(x, placement='both')",
    "kith.Index(x, arithmetic='f16')",
    "kith.Index(x, device=3)",
    "kith.Index(x, storage='here')",
    "kith.Classifier(x, [1], 'jacard')",
    "kith.Classifier(x, [1], placement='both')",
    "kith.Regressor(x, [1], folds=2)",
    "voter.predict(x, 3, weights='near')",
    "voter.predict(x, 3, tie='first')",
    "index.search(x, 2, how='heap')",
    "index.search(x, 2.5)",
    "kith.finish('euclid', keys)",
    "KNeighborsClassifier(weights='near')",
    "KNeighborsClassifier(metric='euclid')",
    "KNeighborsClassifier(algorithm='kd_tree')",
    "KNeighborsClassifier(tie='first')",
    "kneighbors_graph(x, 2, mode='both')",
    "kneighbors_graph(x, 2, include_self='yes')",
    "flat.search(x, 2, params=3)",
]
RIGHT = [
    "kith.Index(x, 'cosine', 'cpu', features=[0, 1], placement='split', shares=[1, 2])",
    "kith.Index(x, 'manhattan', 'opencl:nvidia')",
    "index.search(x, 2, how={'selector': 'bitonic', 'proposer': 'none', 'boxes': False}, progress=True)",
    "index.search(x, 2, progress=lambda part: print(part))",
    "KNeighborsClassifier(weights=lambda d: 1 / d, metric='infinity', algorithm='brute')",
    "KNeighborsClassifier(weights=None)",
    "kith.Regressor('a.npy', [1.0], storage='quantized', memory_limit=1 << 30, sample_weights=[1])",
    "kneighbors_graph(x, 2, mode='distance', include_self='auto')",
    "model.predict_proba(x).shape",
    "voter.predict_proba(x, 3).tolist()",
    "voter.classes.tolist()",
]


def lines_with_errors(tmp_path, lines):
    """Returns the numbers of the lines in which mypy finds an error."""
    program = FIRST + "\n".join(lines) + "\n"
    (tmp_path / "user.py").write_text(program)
    home = Path(kith.__file__).parents[1]
    environment = {**os.environ, **({} if home.name == "site-packages" else {"MYPYPATH": str(home)})}
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "--config-file=", "user.py"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    before = FIRST.count("\n") + 1
    errors = [(int(number), text) for number, text in re.findall(r"user\.py:(\d+): error: (.*)", run.stdout)]
    assert not [one for one in errors if one[0] < before], run.stdout
    return {number - before: text for number, text in errors}


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_what_a_type_checker_knows(tmp_path):
    pytest.importorskip("kith.sklearn", exc_type=ImportError)
    lines = [f"assert_type({expression}, {kind})" for expression, kind in KNOWN.items()] + RIGHT + WRONG
    wrong = range(len(lines) - len(WRONG), len(lines))
    errors = lines_with_errors(tmp_path, lines)
    told = [f"{line}: {errors.get(number, 'no error')}" for number, line in enumerate(lines)]
    assert [one for number, one in enumerate(told) if (number in wrong) != (number in errors)] == []


def public():
    """Yields each public function and method by name."""
    modules = [kith, kith.faiss, kith.files]
    for name in ("sklearn", "dask", "torch"):
        try:
            modules.append(getattr(kith, name))
        except (kith.Unavailable, ImportError):
            pass
    for module in modules:
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isfunction(member):
                yield f"{module.__name__}.{name}", member
            for kind in getattr(member, "__mro__", ()):
                if not kind.__module__.startswith("kith"):
                    continue
                for method, function in vars(kind).items():
                    function = getattr(function, "__func__", function)
                    if inspect.isfunction(function) and (method == "__init__" or not method.startswith("_")):
                        yield f"{module.__name__}.{name}.{method}", function


PUBLIC = dict(public())


def test_hints_can_be_asked_for():
    assert len(PUBLIC) > 80
    for name, function in PUBLIC.items():
        assert typing.get_type_hints(function) is not None, name
    hints = typing.get_type_hints(kith.Neighbors)
    assert hints == {"distance": _types.Distances, "row": _types.Int64}
    assert typing.get_type_hints(kith.RadiusNeighbors)["first"] == _types.Int64
    assert typing.get_type_hints(kith.Index.search)["return"] is kith.Neighbors
    assert typing.get_type_hints(kith.Index)["_metric"] == _types.MetricName
    assert typing.get_type_hints(kith.knn_graph)["return"] is kith.Neighbors


def test_help_shows_short_signatures():
    for name, function in PUBLIC.items():
        shown = str(inspect.signature(function))
        assert ":" not in shown and "'Any'" not in shown and len(shown) < 400, name
    assert str(inspect.signature(kith.Index.within)) == (
        "(self, Q, radius, *, filter=None, exclude_self_from=None, groups=None, rows_from_group=False, progress=False, threads=0, memory_limit=0, how=None)")  # fmt: skip
    assert "metric=None, device='auto', *, sample_weights=None, **arguments)" in str(inspect.signature(kith.Classifier))


def test_classifiers_and_regressors_take_all_arguments_of_an_index():
    taken = inspect.signature(kith.Index.__init__).parameters.values()
    named = [one.name for one in taken if one.kind == inspect.Parameter.KEYWORD_ONLY]
    assert sorted(_types.IndexArguments.__annotations__) == sorted(named)


def test_the_names_are_those_of_the_library():
    """Each name is accepted, and the library has no other."""
    names = typing.get_args(_types.MetricName)
    assert set(kith.metrics()) == {_metrics.metric_named(name) for name in names} <= set(names)
    index = kith.Index(ROWS, device="cpu")
    for device in kith.devices():
        assert set(device.selectors) <= set(typing.get_args(_types.Selector))
        assert set(device.proposers) <= set(typing.get_args(_types.Proposer))
    voter = kith.Classifier(ROWS, [0, 1, 1, 0], device="cpu")
    for tie in typing.get_args(_types.Tie):
        voter.predict(ROWS, 3, tie=tie)
    for weights in typing.get_args(_types.AllWeights):
        voter.predict(ROWS, 3, weights=weights, rank_weights=[3, 2, 1] if weights == "rank" else None)
    for residence in set(typing.get_args(_types.Residence)) - {"automatic"}:
        assert kith.Index(ROWS, device="cpu", storage=residence).storage == residence
    for placement in typing.get_args(_types.Placement):
        kith.Index(ROWS, device="cpu", placement=placement)
    for word, call in {
        "tie": lambda: voter.predict(ROWS, 3, tie="none"),
        "selector": lambda: index.search(ROWS, 1, how={"selector": "none"}),
        "proposer": lambda: index.search(ROWS, 1, how={"proposer": "quick"}),
        "placement": lambda: kith.Index(ROWS, device="cpu", placement="none"),
        "storage": lambda: kith.Index(ROWS, device="cpu", storage="none"),
    }.items():
        with pytest.raises(kith.InvalidArgument, match=word) as told:
            call()
        listed = re.findall(r"choose one of ([a-z0-9_, ]+)", str(told.value))
        if listed:
            known = set(typing.get_args(getattr(_types, {"storage": "Residence"}.get(word, word.capitalize()))))
            assert set(listed[0].split(", ")) <= known | {"automatic"}, word


def test_names_that_others_have_for_metrics():
    """Names used by FAISS, SciPy, scikit-learn and usearch, as the docs list them."""
    names = {"euclidean": "l2", "sqeuclidean": "squared_l2", "l2sq": "squared_l2", "cityblock": "l1"}
    names |= {"ip": "negative_dot", "cos": "cosine"}
    for other, own in names.items():
        assert kith.Index(ROWS, other, "cpu").metric == own and other in typing.get_args(_types.MetricName)


def test_dir_has_what_is_public():
    packages = {"dask": "distributed", "sklearn": "sklearn", "torch": "torch"}
    there = {name for name, package in packages.items() if importlib.util.find_spec(package)}
    assert set(dir(kith)) == {*kith.__all__, "faiss", "files", *there, "__version__"}
