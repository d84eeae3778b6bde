/* Classifies flowers by four measures: labels, shares of the vote, a radius, and a callback that reports
 * progress and may stop the search.
 *
 *   cc -std=c99 -pedantic -Wall classify.c -lkith -o classify && ./classify
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <kith/kith.h>

enum { dims = 4, n = 6, m = 2, classes = 3 };

static void check(kith_status status) {
  if (status == KITH_OK) return;
  fprintf(stderr, "%s: %s\n", kith_status_name(status), kith_last_error());
  exit(status);
}

static int32_t count_calls(double fraction, void* user) {
  int* calls = user;
  ++*calls;
  return fraction > 1; /* never: 0 goes on */
}

int main(void) {
  static const float flowers[n * dims] = {5.1f, 3.5f, 1.4f, 0.2f, 4.9f, 3.0f, 1.4f, 0.2f,
                                          7.0f, 3.2f, 4.7f, 1.4f, 6.4f, 3.2f, 4.5f, 1.5f,
                                          6.3f, 3.3f, 6.0f, 2.5f, 5.8f, 2.7f, 5.1f, 1.9f};
  static const int64_t kinds[n] = {0, 0, 1, 1, 2, 2};
  static const float asked[m * dims] = {5.0f, 3.4f, 1.5f, 0.2f, 6.1f, 2.9f, 4.8f, 1.6f};
  static const char* const names[classes] = {"setosa", "versicolor", "virginica"};
  kith_device* device = NULL;
  kith_classifier* classifier = NULL;
  kith_rows train = KITH_INIT(kith_rows), queries;
  kith_vote_options vote = KITH_INIT(kith_vote_options);
  kith_search_options options = KITH_INIT(kith_search_options);
  kith_classification answer = KITH_INIT(kith_classification);
  kith_classification* const answers[] = {&answer};
  kith_within* neighbors = NULL;
  kith_within_info lists = KITH_INIT(kith_within_info);
  int64_t label[m];
  double share[m * classes];
  const float radius = 1;
  int calls = 0, q, c;

  train.data = flowers, train.rows = n, train.cols = dims;
  queries = train;
  queries.data = asked, queries.rows = m;
  check(kith_device_open("cpu", &device));
  check(kith_classifier_new(device, &train, kinds, 1, NULL, NULL, &classifier));

  vote.weights = "distance";
  options.progress = count_calls, options.user = &calls;
  answer.label = label, answer.share = share;
  check(kith_classifier_classify(classifier, &queries, 3, &vote, &options, 1, answers));
  for (q = 0; q < m; ++q) {
    printf("flower %d is %s:", q, names[label[q]]);
    for (c = 0; c < classes; ++c) printf(" %.3f", share[q * classes + c]);
    printf("\n");
  }
  printf("progress was told: %s\n", calls > 0 ? "yes" : "no");

  answer.share = NULL;
  check(kith_classifier_classify_within(classifier, &queries, &radius, 1, NULL, NULL, &answer, &neighbors));
  check(kith_within_describe(neighbors, &lists));
  for (q = 0; q < m; ++q)
    printf("flower %d has %" PRId64 " neighbours within %g: %s\n", q, lists.first[q + 1] - lists.first[q],
           (double)radius, names[label[q]]);
  kith_within_free(neighbors);
  kith_classifier_free(classifier);
  kith_device_free(device);
  return 0;
}
