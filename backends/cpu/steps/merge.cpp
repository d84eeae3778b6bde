// merge: finds the k smallest keys of the sorted lists of a row with a heap of the lists' heads.
//
// Work: k times log2(lists). Source: the k-way merge of Knuth, The Art of Computer Programming 3, 5.4.1.
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// The smallest key of a list that is not yet taken.
struct Head {
  Key key;
  const Key* rest;  ///< the keys after it
  const Key* end;
};

void advance(Head& head) {
  head.key = head.rest < head.end ? *head.rest++ : no_key;
}

/// Moves the head at the top down to its place in the heap.
void sift_down(Head* heads, std::size_t count, std::size_t at) {
  const Head sinking = heads[at];
  for (std::size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && heads[child + 1].key < heads[child].key) ++child;
    if (sinking.key <= heads[child].key) break;
    heads[at] = heads[child];
  }
  heads[at] = sinking;
}

void merge_row(const Key* in, std::size_t lists, std::size_t k, Head* heads, Key* out) {
  for (std::size_t i = 0; i < lists; ++i) {
    heads[i] = {0, in + i * k, in + (i + 1) * k};
    advance(heads[i]);
  }
  for (std::size_t i = lists / 2; i-- > 0;) sift_down(heads, lists, i);
  for (std::size_t j = 0; j < k; ++j) {
    out[j] = heads->key;
    advance(*heads);
    sift_down(heads, lists, 0);
  }
}

std::size_t bytes_a_thread(const spi::MergeStep& step) {
  return step.lists * sizeof(Head);
}

}  // namespace

spi::Support check(const spi::MergeStep& step, const Resources& with) {
  return {{}, with.team * bytes_a_thread(step)};
}

void run(const spi::MergeStep& step, const Resources& with) {
  const ScratchParts scratch(spi::MergeStep::name, step.scratch, bytes_a_thread(step), with.team);
  const Key* const in = elements(step.in);
  Key* const out = elements(step.out);
  const std::size_t work = step.in.rows * step.k * 8;
  run_team(step.in.rows, work, scratch.team(), [&](std::size_t q, std::size_t thread) {
    merge_row(in + q * step.in.stride, step.lists, step.k, scratch.of<Head>(thread),
              out + q * step.out.stride);
  });
}

}  // namespace kith::cpu
