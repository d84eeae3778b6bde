"""Classify pictures of digits; print the shares of the classes and the neighbours that voted, and find the best k."""
# needs sklearn
# needs pandas

from kith.sklearn import KNeighborsClassifier
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split

X, y = load_digits(return_X_y=True, as_frame=True)
train, test, train_y, test_y = train_test_split(X, y, random_state=0)

grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9], "weights": ["uniform", "distance"]}, cv=5)
grid.fit(train, train_y)
model = grid.best_estimator_
print(grid.best_params_, "right:", f"{model.score(test, test_y):.4f}")

wrong = test[model.predict(test) != test_y]
print(f"{len(wrong)} of {len(test)} are wrong; the neighbours of the first:")
print(model.kneighbors_frame(wrong[:1]).assign(label=lambda f: y.loc[f.neighbor].to_numpy()).to_string(index=False))
