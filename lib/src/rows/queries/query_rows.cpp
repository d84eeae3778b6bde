#include "rows/queries/query_rows.hpp"

#include <utility>

#include "base/numbers.hpp"
#include "rows/rows.hpp"

namespace kith {

std::optional<bool> QueryRows::all_on(const ByteGrid& grid) const {
  if (sent_) return sent_->all_on(grid);
  return there_ ? there_->all_on(grid) : std::nullopt;
}

QueryRows QueryRows::every(std::int64_t first, std::int64_t step, std::int64_t count) const {
  QueryRows some = *this;
  some.rows_ = count;
  if (first != 0 || step != 1 || count != rows_) some.sent_ = nullptr;
  if (there_) {
    some.own_ = nullptr;
    some.first_ = first_ + first * step_;
    some.step_ = step_ * step;
  } else {
    some.host_ = {host_.row(first), count, cols_, host_.stride() * step};
  }
  return some;
}

QueryRows QueryRows::chosen(const std::vector<std::int64_t>& numbers) const {
  QueryRows some = *this;
  some.rows_ = static_cast<std::int64_t>(numbers.size());
  some.sent_ = nullptr;
  if (there_) {
    std::vector<std::int64_t> all;
    all.reserve(numbers.size());
    for (const std::int64_t q : numbers) all.push_back(number(q));
    some.numbers_ = std::make_shared<const std::vector<std::int64_t>>(std::move(all));
    some.first_ = 0;
    some.step_ = 1;
    some.own_ = nullptr;
    return some;
  }
  auto values = std::make_shared<Floats>();
  values->reserve(numbers.size() * size(cols_));
  for (const std::int64_t q : numbers) values->insert(values->end(), host_.row(q), host_.row(q) + cols_);
  some.host_ = {values->data(), some.rows_, cols_};
  some.own_ = std::move(values);
  return some;
}

MatrixView<const float> QueryRows::on_host() const {
  if (!there_) return host_;
  const MatrixView<const float> all = there_->values();
  if (!numbers_) return {all.row(first_), rows_, cols_, all.stride() * step_};
  if (!own_) {
    auto values = std::make_shared<Floats>();
    values->reserve(size(rows_) * size(cols_));
    for (std::int64_t q = 0; q < rows_; ++q)
      values->insert(values->end(), all.row(number(q)), all.row(number(q)) + cols_);
    own_ = std::move(values);
  }
  return {own_->data(), rows_, cols_};
}

MatrixView<const float> QueryRows::sample(std::int64_t step, Floats& to) const {
  const QueryRows some = every(0, step, divide_up(rows_, step));
  if (!there_) return some.on_host();
  if (numbers_) {
    some.on_host();
    to = *some.own_;
  } else {
    to = there_->read_landed(some.first_, some.rows_, some.step_);
  }
  return {to.data(), some.rows_, cols_};
}

void QueryRows::put(Device::State& state, spi::Allocation& to, std::uint32_t block,
                    std::uint32_t threads) const {
  if (!there_) return upload_rows(state, to, host_, block, threads);
  land(to, block);
}

std::unique_ptr<HostBuffer> QueryRows::begin_to_put(Device::State& state, spi::Allocation& to,
                                                    std::uint32_t block, std::uint32_t threads) const {
  if (!there_) return begin_upload(state, to, host_, block, threads);
  land(to, block);
  return nullptr;
}

void QueryRows::land(spi::Allocation& to, std::uint32_t block) const {
  if (!numbers_) return there_->land_part(first_, rows_, to, block, step_);
  std::vector<std::uint32_t> numbers;
  for (std::int64_t q = 0; q < rows_; ++q) numbers.push_back(static_cast<std::uint32_t>(number(q)));
  there_->land_chosen(numbers, to, block);
}

}  // namespace kith
