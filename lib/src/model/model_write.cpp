// Writes a model to a file: docs/contract.md, section 10.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "base/border.hpp"
#include "base/checksum.hpp"
#include "base/saved_file.hpp"
#include "kith/model.hpp"
#include "model/model_check.hpp"
#include "model/model_metric.hpp"
#include "model/model_parts.hpp"

namespace kith {
namespace {

/// Writes to a file; without one, only counts the bytes.
class ModelWriter {
 public:
  explicit ModelWriter(SavedFile* file) : file_(file) {}

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t checksum() const { return sum_.value(); }

  void raw(const void* from, std::size_t size) {
    bytes_ += size;
    if (!file_) return;
    sum_.add(from, size);
    const char* rest = static_cast<const char*>(from);
    while (size > 0) {
      const std::size_t some = std::min(size, buffer_bytes - buffer_.size());
      buffer_.append(rest, some);
      rest += some;
      size -= some;
      if (buffer_.size() == buffer_bytes) flush();
    }
  }

  void flush() {
    file_->write(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  template <class Body>
  void section(std::string_view name, const Body& body) {
    std::array<char, section_name_bytes> begin{};
    std::copy(name.begin(), name.end(), begin.begin());
    raw(begin.data(), begin.size());
    ModelWriter counter(nullptr);
    body(counter);
    size(counter.bytes());
    body(*this);
  }

  void number(std::int64_t value) { plain(value); }
  void size(std::uint64_t value) { plain(value); }

  void text(std::string_view value) {
    size(value.size());
    raw(value.data(), value.size());
  }
  template <class Choice>
  void choice(const Choice& value) {
    text(name(value));
  }

  template <class T>
  void array(const std::vector<T>& values) {
    size(values.size());
    if constexpr (std::endian::native == std::endian::little)
      raw(values.data(), values.size() * sizeof(T));
    else
      for (const T value : values) plain(value);
  }
  template <class T, class Body>
  void list(const std::vector<T>& values, const Body& body) {
    size(values.size());
    for (const T& value : values) body(*this, value);
  }
  void texts(const std::vector<std::string>& values) {
    list(values, [](ModelWriter& to, const std::string& value) { to.text(value); });
  }

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

  template <class T>
  void plain(T value) {
    auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if constexpr (std::endian::native == std::endian::big) std::reverse(bytes.begin(), bytes.end());
    raw(bytes.data(), bytes.size());
  }

  SavedFile* file_;
  std::string buffer_;
  std::uint64_t bytes_ = 0;
  Checksum sum_;
};

}  // namespace

void save(const Model& model, const std::string& path, const SaveOptions& options) try {
  check_model(model);
  const Preparation::Learned learned = model.preparation.learned();
  const ModelParameters taken = parameters_of(model);
  const ModelParameters* const parameters = taken.empty() ? nullptr : &taken;
  ModelWriter counter(nullptr);
  model_parts(counter, model, learned, parameters);
  const std::uint64_t bytes = model_header_bytes + counter.bytes() + model_checksum_bytes;
  SavedFile output("model", path, bytes, options);
  ModelWriter writer(&output);
  writer.raw(model_magic.data(), model_magic.size());
  writer.size(parameters                            ? model_version_of_metric
              : model.arithmetic == Arithmetic::f64 ? model_version_of_doubles
                                                    : model_version);
  writer.size(bytes);
  model_parts(writer, model, learned, parameters);
  writer.size(writer.checksum());
  writer.flush();
  output.commit();
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
