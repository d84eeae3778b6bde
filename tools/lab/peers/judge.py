"""Counts how often a peer's answer differs from kith's."""
import torch

from made_rows import SOME


def bits_set(device):
    return torch.tensor([bin(byte).count("1") for byte in range(256)], dtype=torch.float64, device=device)


def distances(train, queries, which, rows):
    """Returns distances of pairs of a query and a row: squared in double precision, or how many bits differ."""
    counts = bits_set(train.device)

    def of(q, t):
        if train.dtype == torch.uint8:
            return counts[(queries[q] ^ train[t]).long()].sum(dim=1)
        return (queries[q].double() - train[t].double()).square().sum(dim=1)

    step = max(1, SOME // train.shape[1])
    parts = [of(q, t) for q, t in zip(which.split(step), rows.split(step))]
    return torch.cat(parts) if parts else torch.empty(0, dtype=torch.float64, device=train.device)


def check_rows(train, queries, index, distance):
    """Checks that kith searched the same rows: its distances for a few queries must be theirs."""
    few = torch.arange(0, len(queries), max(1, len(queries) // 10), device=train.device)
    near = index[few][:, :100]
    right = distances(train, queries, few.repeat_interleave(near.shape[1]), near.reshape(-1))
    given = distance[few][:, :100].reshape(-1).double()
    if not torch.allclose(given, right, rtol=1e-4, atol=1e-9):
        raise ValueError("kith's distances are not those of these rows: were they of another scale or seed?")


def judged(train, queries, index, found):
    """Counts how often `found`, [m, k], differs from kith's `index`. A row as far as kith's last is right, too."""
    m, k = index.shape
    right, given = index.sort(dim=1).values, found.sort(dim=1).values
    place = torch.searchsorted(right, given).clamp(max=k - 1)
    other = right.gather(1, place) != given
    repeated = torch.zeros_like(other)
    repeated[:, 1:] = given[:, 1:] == given[:, :-1]
    which, column = other.nonzero(as_tuple=True)
    far = distances(train, queries, which, given[which, column])
    last = distances(train, queries, torch.arange(m, device=index.device), index[:, -1])[which]
    wrong = repeated.clone()
    wrong[which, column] |= far != last
    return {"queries": m, "k": k,
            "queries_wrong": int(wrong.any(dim=1).sum()),
            "queries_in_another_order": int((index != found).any(dim=1).sum()),
            "neighbours_wrong": int(wrong.sum()),
            "neighbours_farther": int((far > last).sum())}
