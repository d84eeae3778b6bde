"""Draws questions to a subject, and compares the answers with the oracle's."""
import kith
import numpy as np

from case import REFUSALS, Different
from oracle import TIES


def attempt(case, ask, ways):
    """Returns ask(**ways). If the device refuses some of these options, asks again without them."""
    try:
        return ask(**ways)
    except REFUSALS as error:
        insisted = [name for name in ("how", "memory_limit") if ways.get(name)]
        if not insisted:
            raise
        case.count(f"refused {insisted[0]}: {type(error).__name__}")
        case.note("refused", error=str(error))
    return ask(**{name: value for name, value in ways.items() if name not in insisted})


def refused_as_it_should(case, rows, values, ask):
    """Returns whether products may overflow. Then kith must refuse the question."""
    if not rows.is_refused(values):
        return False
    try:
        ask()
    except kith.InvalidArgument as error:
        case.count("refused products")
        if "overflow" not in str(error):
            raise
        return True
    raise Different("products that may overflow are not refused")


def draw_filter(case, rows, m):
    """Returns a filter as kith takes it, and as a mask [n] or [m, n] over positions."""
    n = len(rows.values)
    if case.chance(0.55):
        return None, None
    share = case.one_of([0, 0.02, 0.3, 0.9, 1])
    mask = case.random.random((m, n) if case.chance(0.4) else n) < share
    if mask.ndim == 1 and case.chance(0.4):
        numbers = case.random.permutation(np.flatnonzero(mask))
        return numbers, mask
    return mask, mask


def draw_self(case, rows, m):
    """Returns where m successive positions that were not removed begin, or None."""
    if m == 0 or rows.there.sum() < 2 or case.chance(0.75):
        return None
    runs = np.convolve(rows.there, np.ones(m, int), "valid") == m if m <= len(rows.there) else np.empty(0, bool)
    begins = np.flatnonzero(runs)
    return int(case.one_of(begins)) if len(begins) else None


def draw_ways(case, within=False):
    info = kith.Device(case.device).info if case.device not in _INFO else _INFO[case.device]
    _INFO[case.device] = info
    ways = {}
    if case.chance(0.3):
        ways["threads"] = case.whole(1, 4)
    if case.chance(0.06):
        ways["memory_limit"] = case.one_of([2**10, 2**14, 2**17, 2**20, 2**24])
    if case.chance(0.01):
        ways["progress"] = lambda fraction: None
    if within:
        return ways
    if case.chance(0.25):
        ways.setdefault("how", {})["selector"] = case.one_of(info.selectors)
    if case.chance(0.35):
        ways.setdefault("how", {})["proposer"] = case.one_of([*info.proposers, "none"])
    if case.chance(0.3):
        ways.setdefault("how", {})["boxes"] = bool(case.chance(0.6))
    return ways


_INFO = {}


def search(case, subject):
    rows, index = subject.rows, subject.index
    array, values = case.draw_queries(rows)
    filter, mask = draw_filter(case, rows, len(values))
    exclude_self_from = draw_self(case, rows, len(values))
    k = case.draw_k(int(rows.there.sum()) - (exclude_self_from is not None))
    ways = draw_ways(case)
    if case.chance(0.1):
        ways["out"] = np.empty((len(values), k), np.float32), np.empty((len(values), k), np.int64)
    if index.storage == "stream" and case.chance(0.25):
        ways["checkpoint"] = case.file(".chk")
        case.count("checkpoint")
    case.note("search", Q=array, k=k, filter=filter, exclude_self_from=exclude_self_from, **ways)

    def ask(**ways):
        return index.search(array, k, filter=filter, exclude_self_from=exclude_self_from, **ways)

    if refused_as_it_should(case, rows, values, ask):
        return
    found = attempt(case, ask, ways)
    expected = rows.asked(values, mask, exclude_self_from).search(k)
    for again in range(2 if "checkpoint" in ways else 1):  # it goes on from one that is complete
        found = ask(checkpoint=ways["checkpoint"]) if again else found
        case.same("search: row", found.row, expected[1])
        case.same("search: distance", found.distance, expected[0])


def draw_radii(case, asked, m):
    """Returns radii that equal a distance, lie just above or below one, or include no row or all rows."""
    distance = asked.search(len(asked.rows.values))[0]
    finite = distance[np.isfinite(distance)]
    far = finite if finite.size else np.float32([1])
    radius = case.random.choice(far, m if case.chance(0.5) else 1)
    how = case.whole(0, 9)
    if how == 0:
        radius = np.nextafter(radius, np.float32(np.inf))
    if how == 1:
        radius = np.nextafter(radius, np.float32(-np.inf))
    if how == 2:
        radius[:] = case.one_of([0.0, -0.0, np.inf, -1.0])
    # Python refuses a radius below 0 if no distance can be negative.
    return radius if case.metric == "negative_dot" else np.maximum(radius, np.float32(0))


def within(case, subject):
    rows, index = subject.rows, subject.index
    array, values = case.draw_queries(rows)
    if not len(values):
        return
    filter, mask = draw_filter(case, rows, len(values))
    exclude_self_from = draw_self(case, rows, len(values))
    asked = rows.asked(values, mask, exclude_self_from)
    radius = draw_radii(case, asked, len(values))
    ways = draw_ways(case, within=True)
    case.note("within", Q=array, radius=radius, filter=filter, exclude_self_from=exclude_self_from, **ways)

    def ask(**ways):
        return index.within(array, radius, filter=filter, exclude_self_from=exclude_self_from, **ways)

    if refused_as_it_should(case, rows, values, ask):
        return
    found = attempt(case, ask, ways)
    compare_lists(case, "within", found, asked.within(radius)[:3])


def compare_lists(case, what, found, expected):
    for name, one, right in zip(found._fields, found, expected):
        case.same(f"{what}: {name}", one, right)


def of_shards(case, shards):
    """Searches each shard, merges the keys and finishes them; leave-one-out happens after the merge."""
    rows = shards.rows
    array, values = case.draw_queries(rows)
    m = len(values)
    filter, mask = draw_filter(case, rows, m)
    if mask is not None:
        filter = mask  # row numbers would depend on the shard
    own = np.where(case.random.random(m) < 0.8, case.random.integers(0, case.n, m), -1) if case.chance(0.3) else None
    k = case.whole(1, case.n + 2) + (own is not None)
    ways = draw_ways(case)
    ways.get("how", {}).pop("boxes", None)
    case.note("search_keys, merge", Q=array, k=k, filter=filter, own=own, **ways)

    def ask_of(shard, part):
        chosen = None if filter is None else filter[..., part]
        return attempt(case, lambda **ways: shard.search_keys(array, k, filter=chosen, **ways), ways)

    if refused_as_it_should(case, rows, values, lambda: shards.merged(ask_of)):
        return
    keys = shards.merged(ask_of)
    asked = rows.asked(values, mask)
    value, row = asked.keys(k)
    case.same("merge: value", keys.value, value)
    case.same("merge: row", keys.row, row)
    if own is not None:
        keys = kith.leave_out(keys, np.where(own < 0, -1, own + shards.first))
        asked = rows.asked(values, without_own(mask, own, case.n))
        k -= 1
    found = kith.finish(case.metric, keys)
    value, row = asked.keys(k)
    k = min(k, case.n)
    distance = asked.search(k)[0]
    case.same("finish: row", found.row, row)
    case.same("finish: distance", found.distance[:, :k], distance)
    radius_of_shards(case, shards, array, values)


def without_own(mask, own, n):
    counts = np.ones((len(own), n), bool) if mask is None else np.broadcast_to(mask, (len(own), n)).copy()
    given = np.flatnonzero(own >= 0)
    counts[given, own[given]] = False
    return counts


def radius_of_shards(case, shards, array, values):
    if not len(values) or case.chance(0.5):
        return
    asked = shards.rows.asked(values)
    radius = draw_radii(case, asked, len(values))
    case.note("within_keys, merge", radius=radius)
    keys = shards.merged(lambda shard, part: shard.within_keys(array, radius))
    first, distance, row, value = asked.within(radius)
    compare_lists(case, "merge", keys, (first, value, row))
    compare_lists(case, "finish", kith.finish(case.metric, keys), (first, distance, row))


def votes(case, subject):
    """Asks a classifier or a regressor."""
    rows, made = subject.rows, subject.made
    array, values = case.draw_queries(rows)
    exclude_self_from = draw_self(case, rows, len(values))
    k = case.draw_k(int(rows.there.sum()) - (exclude_self_from is not None))
    weights = "uniform" if case.metric == "negative_dot" else case.one_of(["uniform", "distance"])
    words = {"weights": weights, "exclude_self_from": exclude_self_from}
    if subject.kind == "Classifier":
        words["tie"] = case.one_of(TIES)
    case.note("predict", Q=array, k=k, **words)
    if refused_as_it_should(case, rows, values, lambda: made.predict(array, k, **words)):
        return
    asked = rows.asked(values, None, exclude_self_from)
    found = np.reshape(made.predict(array, k, **words), (len(values), subject.outputs))
    shares = None
    if subject.kind == "Classifier":
        shares = made.predict_proba(array, k, weights=weights, exclude_self_from=exclude_self_from)
        shares = [shares] if subject.outputs == 1 else shares
    for output in range(subject.outputs):
        if shares is None:
            expected = asked.mean(k, output, weights == "distance")
        else:
            expected, share = asked.vote(k, output, weights == "distance", words["tie"])
            case.same(f"predict_proba: output {output}", shares[output], share)
        case.same(f"predict: output {output}", found[:, output].copy(), expected)


def graph(case):
    """Compares kith.knn_graph."""
    if case.bits:
        return
    case.features, case.columns = None, case.dims
    array, values = case.draw_rows(max(case.n, 2))
    rows = case.new_rows()
    rows.add(values, np.arange(len(values)))
    k = case.draw_k(len(values) - 1)
    case.note("knn_graph", X=array, k=k)
    single = {"arithmetic": "f32"}  # as the oracle
    if refused_as_it_should(case, rows, values, lambda: kith.knn_graph(array, k, case.metric, case.device, **single)):
        return
    found = kith.knn_graph(array, k, case.metric, case.device, **single)
    distance, row = rows.asked(values, None, 0).search(k)
    case.same("knn_graph: row", found.row, row)
    case.same("knn_graph: distance", found.distance, distance)
