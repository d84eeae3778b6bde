/* Finds the nearest of a few points, and shows how to handle an error.
 *
 *   cc -std=c99 -pedantic -Wall search.c -lkith -o search && ./search
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <kith/kith.h>

enum { dims = 2, n = 5, m = 2, k = 3 };

static void check(kith_status status) {
  if (status == KITH_OK) return;
  fprintf(stderr, "%s: %s\n", kith_status_name(status), kith_last_error());
  exit(status);
}

static kith_rows rows_of(const float* values, int64_t rows) {
  kith_rows view = KITH_INIT(kith_rows);
  view.data = values;
  view.rows = rows;
  view.cols = dims;
  return view;
}

int main(void) {
  const float points[n * dims] = {0, 0, 3, 4, 6, 8, 0, 1, 5, 5};
  const float asked[m * dims] = {0, 0, 5, 6};
  const kith_rows train = rows_of(points, n), queries = rows_of(asked, m);
  kith_device* device = NULL;
  kith_index* index = NULL;
  kith_index_options options = KITH_INIT(kith_index_options);
  float distance[m * k];
  int64_t row[m * k];
  int q, j;

  check(kith_device_open("cpu", &device));
  options.metric = "euclidean";
  check(kith_index_new(device, &train, &options, &index));
  check(kith_index_search(index, &queries, k, NULL, distance, row));
  for (q = 0; q < m; ++q)
    for (j = 0; j < k; ++j)
      printf("query %d: row %" PRId64 " at %g\n", q, row[q * k + j], (double)distance[q * k + j]);

  if (kith_index_search(index, &queries, n + 1, NULL, distance, row) != KITH_OK)
    printf("%s\n", kith_last_error());
  kith_index_free(index);
  kith_device_free(device);
  return 0;
}
