"""Tests that pickles and copies of estimators and flat indices record which version of kith made them."""

import copy
import io
import pickle

import kith
import numpy as np
import pytest
from kith import faiss
from kith._core import _index, _pickles

# The attributes of format 1. If this table must change, raise FORMAT here and in kith/_core/_pickles.py.
FORMAT = 1
BASE = {
    "_fit_X", "_fit_index", "_made", "_making", "algorithm", "device", "effective_metric_", "effective_metric_params_",
    "leaf_size", "metric", "metric_params", "n_features_in_", "n_jobs", "n_samples_fit_", "p",
}  # fmt: skip
VOTES = {"_classes", "_codes", "classes_", "costs", "no_label", "outputs_2d_", "priors", "tie", "weights"}
ATTRIBUTES = {
    "NearestNeighbors": BASE | {"n_neighbors", "radius"},
    "KNeighborsTransformer": BASE | {"mode", "n_neighbors", "_n_features_out"},
    "RadiusNeighborsTransformer": BASE | {"mode", "radius", "_n_features_out"},
    "KNeighborsClassifier": BASE | VOTES | {"n_neighbors"},
    "RadiusNeighborsClassifier": BASE | VOTES | {"radius", "outlier_label", "outlier_label_"},
    "KNeighborsRegressor": BASE | {"_flat", "_values", "n_neighbors", "weights"},
    "RadiusNeighborsRegressor": BASE | {"_flat", "_values", "radius", "weights"},
}
X = np.arange(12, dtype=np.float32).reshape(6, 2)


def models():
    """Returns fitted estimators and a flat index, by name."""
    made = {"IndexFlatL2": faiss.IndexFlatL2(2, "cpu")}
    made["IndexFlatL2"].add(X)
    try:
        import kith.sklearn as ours
    except kith.Unavailable:
        return made
    for name in ATTRIBUTES:
        made[name] = getattr(ours, name)(device="cpu").fit(X, [0, 1, 0, 1, 1, 0])
    return made


MODELS = models()


def answer(model):
    if isinstance(model, faiss.IndexFlat):
        return model.search(X, 2)[1].tolist()
    ask = getattr(model, "predict", None) or getattr(model, "transform", None) or (lambda x: model.kneighbors(x)[1])
    found = ask(X)
    return (found.toarray() if hasattr(found, "toarray") else found).tolist()


def test_the_attributes_of_this_format():
    assert _pickles.FORMAT == FORMAT
    for name, attributes in ATTRIBUTES.items():
        if name in MODELS:
            assert set(MODELS[name].__getstate__()) - {"_kith_pickle", "_sklearn_version"} == attributes, name
    assert set(MODELS["IndexFlatL2"].__getstate__()) == {
        "_kith_pickle", "d", "metric_type", "_device", "_index", "_changes"}  # fmt: skip


def with_stamp(model, stamp):
    """Returns the pickle of a model as another version would have written it."""

    class Pickler(pickle.Pickler):
        def reducer_override(self, obj):
            if obj is not model:
                return NotImplemented
            function, arguments, state = obj.__reduce_ex__(2)[:3]
            state = {name: value for name, value in state.items() if name != "_kith_pickle"}
            return function, arguments, state if stamp is None else {**state, "_kith_pickle": stamp}

    file = io.BytesIO()
    Pickler(file).dump(model)
    return file.getvalue()


@pytest.mark.parametrize("name", MODELS)
def test_a_pickle_says_its_version(name):
    assert MODELS[name].__getstate__()["_kith_pickle"] == (kith.__version__, FORMAT)
    content = pickle.dumps(MODELS[name])
    assert f"kith.{'faiss' if name == 'IndexFlatL2' else 'sklearn'}".encode() in content
    assert b"kith.sklearn._" not in content and b"kith.faiss._" not in content
    again = pickle.loads(content)
    assert answer(again) == answer(MODELS[name]) and not hasattr(again, "_kith_pickle")
    for other in (copy.copy(again), copy.deepcopy(again), pickle.loads(pickle.dumps(again))):
        assert answer(other) == answer(MODELS[name])


@pytest.mark.parametrize("name", MODELS)
def test_another_version_of_the_same_format_works(name):
    for other in ("0.0.1", "7.2.0"):
        assert answer(pickle.loads(with_stamp(MODELS[name], (other, FORMAT)))) == answer(MODELS[name])


@pytest.mark.parametrize("name", MODELS)
def test_another_format_is_refused_with_both_versions(name):
    for kind in (FORMAT - 1, FORMAT + 1, None):
        with pytest.raises(kith.BadFile) as told:
            pickle.loads(with_stamp(MODELS[name], ("9.8.7", kind)))
        text = str(told.value)
        assert text.startswith(f"kith.{'faiss' if name == 'IndexFlatL2' else 'sklearn'}.{name}: pickled by kith 9.8.7, in format {kind}")
        assert f"this is kith {kith.__version__}" in text and "make it again from its rows" in text
    with pytest.raises(kith.BadFile, match=f"does not say which version .* this is kith {kith.__version__}"):
        pickle.loads(with_stamp(MODELS[name], None))


def test_an_index_of_another_format_is_refused_with_both_versions():
    index = kith.Index(X, device="cpu")
    function, (content, device, columns, made_by, categories) = index.__reduce__()
    assert function is _index.unpickled and made_by == kith.__version__ and categories is None
    assert function(content, device, columns, "9.8.7").search(X, 1).row.ravel().tolist() == list(range(6))
    for place in (8, len(content) // 2):
        other = bytearray(content)
        other[place] ^= 0x55
        with pytest.raises(kith.BadFile) as told:
            function(bytes(other), device, columns, "9.8.7")
        text = str(told.value)
        assert text.startswith(f"kith.Index: pickled by kith 9.8.7, opened by kith {kith.__version__}: ")
        assert "/tmp" not in text and "kidx" not in text


def test_parameters_of_an_estimator_that_is_not_fitted_are_kept():
    ours = pytest.importorskip("kith.sklearn", exc_type=ImportError)
    model = ours.NearestNeighbors(n_neighbors=3, device="cpu")
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
