"""Searches by FAISS's flat indices, which are exact in single precision, as a peer of torch_knn.py."""
try:
    import faiss
    import faiss.contrib.torch_utils  # noqa: F401 lets indices take tensors
    missing = ""
except (ImportError, RuntimeError) as error:  # RuntimeError if a library of CUDA is missing
    faiss, missing = None, str(error).splitlines()[0]

GPU_LARGEST_K = 2048


def why_not(entry, device):
    """Returns why FAISS does not do this search; empty if it does."""
    if missing:
        return f"FAISS is not installed: {missing}"
    if device.type == "cuda" and not hasattr(faiss, "StandardGpuResources"):
        return "this FAISS was built without GPUs"
    if device.type == "cuda" and entry["k"] > GPU_LARGEST_K:
        return f"FAISS's GPU indices give {GPU_LARGEST_K} neighbours at most"
    return ""


def version():
    return "" if missing else faiss.__version__


class Search:
    """Puts the rows into the index before it is timed. Tensors of the GPU are passed as they are, others as arrays."""

    def __init__(self, train, queries, k):
        self.k, dims = k, train.shape[1]
        is_binary = train.element_size() == 1  # its indices take only arrays
        if train.device.type == "cuda":
            resources = faiss.StandardGpuResources()
            self.index = (faiss.GpuIndexBinaryFlat(resources, 8 * dims) if is_binary
                          else faiss.GpuIndexFlatL2(resources, dims))
        else:
            self.index = faiss.IndexBinaryFlat(8 * dims) if is_binary else faiss.IndexFlatL2(dims)
        as_array = is_binary or train.device.type != "cuda"
        self.index.add(train.cpu().numpy() if as_array else train)
        self.queries = queries.cpu().numpy() if as_array else queries
        self.found = None

    def run(self):
        self.found = self.index.search(self.queries, self.k)[1]
