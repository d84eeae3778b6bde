// What searches teach an Index about its proposers, for later searches. Safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "kith/unstable/plan.hpp"

namespace kith {

class Lessons {
 public:
  void tell_misleads(Proposer proposer) { of(proposer).misleads = true; }
  void tell_overwhelms(Proposer proposer, std::int64_t k) { lower(of(proposer).overwhelmed_from, k); }

  /// Few queries say little about others, so that those of several searches count together.
  static constexpr std::int64_t enough_queries = 16;

  /// Records how many of the queries that a proposer got it left open. If these are most of enough queries,
  /// it is overwhelmed from the largest k on with which it left some.
  void tell_left(Proposer proposer, std::int64_t asked, std::int64_t left, std::int64_t k) {
    Lesson& lesson = of(proposer);
    const std::lock_guard lock(lesson.counting);
    if (left > 0) lesson.left_k = std::max(lesson.left_k, k);
    lesson.asked += asked;
    lesson.left += left;
    if (lesson.asked < enough_queries) return;
    if (2 * lesson.left > lesson.asked) tell_overwhelms(proposer, lesson.left_k);
    lesson.asked = lesson.left = lesson.left_k = 0;
  }

  /// Records for how many queries a proposer guessed, and how many of them only the next attempt answered. If
  /// these are many of enough queries, it is not to guess again.
  void tell_guesses(Proposer proposer, std::int64_t guessed, std::int64_t misled) {
    Lesson& lesson = of(proposer);
    const std::lock_guard lock(lesson.counting);
    lesson.guessed += guessed;
    lesson.misled += misled;
    if (lesson.guessed < enough_queries) return;
    if (Attempt::many_open * lesson.misled > lesson.guessed) lesson.misleads = true;
    lesson.guessed = lesson.misled = 0;
  }

  /// Records that searches by bytes for up to k neighbours ranked few enough candidates.
  void tell_bytes_suit(std::int64_t k) { bytes_suit_to_ = std::max<std::int64_t>(bytes_suit_to_, k); }
  bool bytes_suit(std::int64_t k) const { return k <= bytes_suit_to_; }

  void tell_boxes_made() { boxes_made_ = true; }
  void tell_boxes_lose(std::int64_t k) { lower(boxes_lose_from_, k); }
  void tell_answered(std::int64_t queries) {
    if (!boxes_made_) queries_ += queries;
  }

  /// The quantized rows of int8 are about to be made. If this fails, scans have to pay for it anew.
  void tell_bytes_begun() { scans_ = 0; }
  void tell_bytes_made() { bytes_made_ = true; }
  void tell_scans(std::int64_t scans) {
    if (!bytes_made_) scans_ += scans;
  }

  Feedback feedback() const {
    Feedback feedback;
    feedback.boxes_made = boxes_made_;
    feedback.boxes_lose_from = boxes_lose_from_;
    feedback.queries = queries_;
    feedback.bytes_made = bytes_made_;
    feedback.scans = scans_;
    for (std::size_t i = 0; i < lessons_.size(); ++i) {
      const Feedback::Lesson lesson{static_cast<Proposer>(i), lessons_[i].misleads,
                                    lessons_[i].overwhelmed_from};
      if (lesson != Feedback::Lesson{lesson.proposer}) feedback.lessons.push_back(lesson);
    }
    return feedback;
  }

 private:
  struct Lesson {
    std::atomic<bool> misleads = false;
    std::atomic<std::int64_t> overwhelmed_from = 0;
    std::mutex counting;
    std::int64_t asked = 0, left = 0, left_k = 0;  ///< of tell_left()
    std::int64_t guessed = 0, misled = 0;          ///< of tell_guesses()
  };
  /// Lowers `known` to k; 0 means none.
  static void lower(std::atomic<std::int64_t>& known, std::int64_t k) {
    std::int64_t from = known;
    while ((from == 0 || k < from) && !known.compare_exchange_weak(from, k)) {
    }
  }
  Lesson& of(Proposer proposer) { return lessons_[static_cast<std::size_t>(proposer)]; }

  std::array<Lesson, static_cast<std::size_t>(Proposer::int4) + 1> lessons_;
  std::atomic<bool> boxes_made_ = false, bytes_made_ = false;
  std::atomic<std::int64_t> boxes_lose_from_ = 0, queries_ = 0, bytes_suit_to_ = 0, scans_ = 0;
};

}  // namespace kith
