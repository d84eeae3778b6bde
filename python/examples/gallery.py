"""Draw four pictures of a classification as gallery.png: regions, their certainty, confusion, and distances."""
# needs sklearn
# needs matplotlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from kith.sklearn import KNeighborsClassifier
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split


def regions(left, right):
    """Draw which class wins in each place, and by how much."""
    X, y = make_moons(300, noise=0.25, random_state=0)
    model = KNeighborsClassifier(15).fit(X, y)
    across, up = np.meshgrid(np.linspace(-1.8, 2.8, 300), np.linspace(-1.4, 1.9, 220))
    points = np.column_stack([across.ravel(), up.ravel()]).astype(np.float32)
    share = model.predict_proba(points)[:, 1].reshape(across.shape)
    left.contourf(across, up, share > 0.5, levels=[-0.5, 0.5, 1.5], colors=["#cfe0f3", "#fbdcc4"])
    left.scatter(*X.T, c=np.where(y == 0, "#1f5fa8", "#c4540a"), s=12)
    left.set_title("Class of the 15 nearest")
    shown = right.contourf(across, up, share, levels=np.linspace(0, 1, 16), cmap="PuOr_r")
    right.figure.colorbar(shown, ax=right, label="share of class 1")
    right.set_title("Share of the votes")


def digits(left, right):
    """Draw which class is taken for which, and how far the neighbours of right and wrong answers are."""
    train, test, train_y, test_y = train_test_split(*load_digits(return_X_y=True), random_state=0)
    model = KNeighborsClassifier(5).fit(train, train_y)
    answer = model.predict(test)
    ConfusionMatrixDisplay.from_predictions(test_y, answer, ax=left, cmap="Blues", colorbar=False)
    left.set_title(f"Digits: {np.mean(answer == test_y):.1%} right")
    near = model.kneighbors(test)[0].mean(axis=1)
    for right_answer, label, color in ((True, "right", "#1f5fa8"), (False, "wrong", "#c4540a")):
        chosen = near[(answer == test_y) == right_answer]
        right.hist(chosen, 20, density=True, alpha=0.6, label=f"{label} ({len(chosen)})", color=color)
    right.set(title="Mean distance of the 5 nearest", xlabel="distance", ylabel="density of queries")
    right.legend()


if __name__ == "__main__":
    figure, axes = plt.subplots(2, 2, figsize=(11, 8.5), layout="constrained")
    regions(*axes[0])
    digits(*axes[1])
    figure.savefig("gallery.png", dpi=110)
    print("gallery.png")
