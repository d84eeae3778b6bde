"""Lists all kinds of files that kith reads: valid examples of each, and the commands that read it."""
import gzip
import os
import pathlib
import subprocess

import numpy as np

import checksums

SEEDS = pathlib.Path(__file__).parent.parent / "fuzz/seeds"
AS_TRAIN = ["search", "--train", "{file}", "--leave-one-out", "-k", "1"]
AS_QUERIES = ["search", "--train", "{folder}/good.npy", "--queries", "{file}", "-k", "2"]
AS_STREAM = ["search", "--train", "{file}", "--place", "residence=stream", "--query", "1,2,3", "-k", "2"]
BY_LABEL = ["classify", "--train", "{file}", "--label", "-1", "--leave-one-out", "-k", "1"]
AS_VALUES = ["regress", "--train", "{folder}/good.npy", "--values", "{file}", "--leave-one-out", "-k", "2"]


class Kind:
    """`wholes`: valid contents; `mend`: corrects checksums; `inner`: the file is a .gz whose content is mutated;
    `names`: of kept files, one for each whole: one of them is mutated, and the command, which must succeed, finds all in
    the folder that `variable` names."""

    def __init__(self, name, ending, wholes, commands, mend=None, text=False, inner=False, names=(), variable=None):
        self.name, self.ending, self.wholes, self.commands = name, ending, wholes, commands
        self.mend, self.text, self.inner = mend, text, inner
        self.names, self.variable = names, variable
        self.device = "opencl:pocl" if names else "cpu"
        self.codes = (0,) if names else (0, 3)  # that a long run must see


def rows(random, kind=np.float32):
    return random.integers(0, 50, (12, 3)).astype(kind)


def written(folder, name, write):
    path = os.path.join(folder, name)
    write(path)
    return pathlib.Path(path).read_bytes()


def of_bin(array):
    return np.array(array.shape, "<u4").tobytes() + array.tobytes()


def of_vecs(array):
    length = np.array([array.shape[1]], "<i4").tobytes()
    return b"".join(length + row.tobytes() for row in array)


def of_idx(array):
    code = {"uint8": 8, "int8": 9, "float32": 13, "float64": 14}[array.dtype.name]
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, code, array.ndim]) + sizes + array.astype(array.dtype.newbyteorder(">")).tobytes()


def text_table(random, delimiter=","):
    table = random.normal(size=(12, 3)).round(3)
    lines = [delimiter.join(["a", "b", "kind"])]
    lines += [delimiter.join([*(str(x) for x in row[:2]), "xyz"[i % 3]]) for i, row in enumerate(table)]
    return "\n".join(lines).encode() + b"\n"


def svm_table(random):
    lines = [f"{i % 3} 1:{random.normal():.3f} 3:{random.normal():.2e}" for i in range(12)]
    return "\n".join(lines).encode() + b"\n"


def plain_kinds(folder, random):
    npy = [written(folder, "a.npy", lambda path, array=array: np.save(path, array)) for array in
           [rows(random), rows(random, np.uint8), rows(random, np.float16), rows(random, ">f8"),
            np.asfortranarray(rows(random, np.int64))]]
    npz = [written(folder, "a.npz", lambda path, save=save: save(path, train=rows(random), test=rows(random)))
           for save in (np.savez, np.savez_compressed)]
    table = [AS_TRAIN, AS_QUERIES]
    yield Kind("npy", ".npy", npy, [*table, AS_STREAM, AS_VALUES])
    yield Kind("npz", ".npz", npz, table)
    yield Kind("idx", ".idx", [of_idx(rows(random, kind)) for kind in (np.uint8, np.float32)], table)
    for name, kind in (("fbin", "<f4"), ("f16bin", "<f2"), ("u8bin", "u1"), ("i8bin", "i1")):
        yield Kind(name, f".{name}", [of_bin(rows(random, kind))], [*table, AS_STREAM])
    for name, kind in (("fvecs", "<f4"), ("ivecs", "<i4"), ("bvecs", "u1")):
        yield Kind(name, f".{name}", [of_vecs(rows(random, kind))], table)
    truth = np.argsort(random.random((12, 12)), axis=1)[:, :3].astype("<i4")
    distances = of_bin(truth) + np.sort(random.random((12, 3)).astype("<f4")).tobytes()
    yield Kind("ibin", ".ibin", [of_bin(truth), distances],
               [["recall", "--truth", "{file}", "--found", "{folder}/good.ivecs"],
                ["recall", "--truth", "{folder}/good.ivecs", "--found", "{file}"]])
    with open(os.path.join(folder, "good.ivecs"), "wb") as file:
        file.write(of_vecs(truth))
    np.save(os.path.join(folder, "good.npy"), rows(random))


def text_kinds(random):
    comma, tab, many = text_table(random), text_table(random, "\t"), text_table(random, ";")
    yield Kind("csv", ".csv", [comma, many], [AS_TRAIN, BY_LABEL, AS_VALUES], text=True)
    yield Kind("csv.gz", ".csv.gz", [comma], [AS_TRAIN, BY_LABEL], text=True, inner=True)
    yield Kind("tsv", ".tsv", [tab], [AS_TRAIN, BY_LABEL], text=True)
    by_own_labels = ["classify", "--train", "{file}", "--leave-one-out", "-k", "1"]
    yield Kind("svm", ".svm", [svm_table(random)], [AS_TRAIN, by_own_labels], text=True)


def own_kinds(folder, random, kith):
    """Yields index files, models and checkpoints, which have checksums."""
    import kith as package

    index = package.Index(rows(random), device="cpu")
    several = [index, index.without([1, 7]), package.Index(rows(random, np.uint8), "l1", "cpu", ids=np.arange(12) * 5),
               package.Index(1 + rows(random), "cosine", "cpu", features=[0, 2]),
               package.Index(rows(random, np.uint8), "hamming", "cpu", element="bits")]
    wholes = [written(folder, "a.kidx", one.save) for one in several]
    query = ["--query", "1,2,3", "-k", "2"]
    yield Kind("kidx", ".kidx", wholes, [
        ["search", "--index", "{file}", *query], ["search", "--index", "{file}", "--place", "residence=stream", *query],
        ["index", "info", "{file}", "--verify"],
        ["index", "remove", "{file}", "--rows", "0", "--out", "{folder}/out.kidx"],
        ["index", "add", "{file}", "--train", "{folder}/good.npy", "--out", "{folder}/out.kidx"],
        ["index", "compact", "{file}", "--out", "{folder}/out.kidx"]], checksums.mended_index)
    yield Kind("model", ".kith", list(models(folder, random, kith)), [
        ["classify", "--model", "{file}", "--query", "1,2", "-k", "1"],
        ["regress", "--model", "{file}", "--query", "1,2", "-k", "1"]], checksums.mended_model)
    yield Kind("checkpoint", ".chk", [checkpoint(folder, package)], [
        ["search", "--train", "{folder}/good.npy", "--place", "residence=stream", "--queries", "{folder}/good.npy", "-k", "3",
         "--checkpoint", "{file}"]], checksums.mended_checkpoint)


def models(folder, random, kith):
    table = os.path.join(folder, "table.csv")
    pathlib.Path(table).write_bytes(text_table(random))
    numbers = "\n".join(f"{i},{i * i % 7},{i / 4}" for i in range(12))
    pathlib.Path(folder, "numbers.csv").write_text("a,b,c\n" + numbers + "\n")
    ways = [["classify", "--train", table, "--label", "kind"],
            ["classify", "--train", table, "--label", "kind", "--scale", "standardize", "--metric", "cosine"],
            ["regress", "--train", os.path.join(folder, "numbers.csv"), "--target", "c", "--prepare", "missing=mean"]]
    for words in ways:
        path = os.path.join(folder, "a.kith")
        subprocess.run([kith, *words, "--leave-one-out", "-k", "1", "--device", "cpu", "--save-model", path],
                       check=True, capture_output=True)
        yield pathlib.Path(path).read_bytes()


def checkpoint(folder, package):
    """Returns the checkpoint of a finished search of good.npy."""
    good, path = os.path.join(folder, "good.npy"), os.path.join(folder, "a.chk")
    index = package.Index(good, device="cpu", storage="stream", chunk_rows=5)
    index.search(np.load(good), 3, checkpoint=path)
    return pathlib.Path(path).read_bytes()


def program_kind(folder, kith):
    """Yields programs that PoCL compiled, if it is here."""
    kept = pathlib.Path(folder, "programs")
    command = ["search", "--train", "{folder}/good.npy", "--leave-one-out", "-k", "1"]
    words = [word.format(folder=folder) for word in command]
    done = subprocess.run([kith, *words, "--device", "opencl:pocl"], env=os.environ | {"KITH_CL_CACHE": str(kept)},
                          capture_output=True)
    if done.returncode == 0:
        names = sorted(os.listdir(kept))
        yield Kind("program", "", [(kept / name).read_bytes() for name in names], [command], names=names,
                   variable="KITH_CL_CACHE")


def hdf5_kind(kith):
    """Yields the seeds of the gate `fuzz`, if kith reads HDF5 here."""
    if not os.path.exists(os.path.join(os.path.dirname(os.path.realpath(kith)), "kith-read-hdf5")):
        return
    wholes = [(SEEDS / "hdf5" / name).read_bytes() for name in ("plain", "packed", "only")]
    yield Kind("hdf5", ".hdf5", wholes, [AS_TRAIN])


def all_kinds(folder, kith):
    random = np.random.default_rng(39)
    return [*plain_kinds(folder, random), *text_kinds(random), *own_kinds(folder, random, kith), *hdf5_kind(kith),
            *program_kind(folder, kith)]


def content(kind, random, mutated):
    """Returns a mutated file. Half of the .gz files are mutated before packing; most checksums are corrected."""
    whole = kind.wholes[random.integers(0, len(kind.wholes))]
    others = kind.wholes
    if kind.inner and random.random() < 0.5:
        return gzip.compress(mutated(random, whole, others, True), mtime=0)
    if kind.inner:
        return mutated(random, gzip.compress(whole, mtime=0), [gzip.compress(one, mtime=0) for one in others])
    data = mutated(random, whole, others, kind.text)
    if kind.mend and random.random() < 0.85:
        data = kind.mend(data, bool(random.random() < 0.7))
    return data
