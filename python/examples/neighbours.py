"""Find the nearest of twenty thousand rows on the best device, and check them on the CPU."""

import kith
import numpy as np

random = np.random.default_rng(0)
X = random.random((20_000, 64), np.float32)
Q = random.random((100, 64), np.float32)

index = kith.Index(X, device="auto")
print(index)
distance, row = index.search(Q, k=10, progress=True)
print("nearest to query 0:", row[0].tolist())

again = kith.Index(X, device="cpu").search(Q, k=10)
assert np.array_equal(row, again.row) and np.array_equal(distance, again.distance)
print("the CPU says the same, bit for bit")
