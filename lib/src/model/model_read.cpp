// Reads a model from an untrusted file: nothing is trusted, and no memory is allocated, before the bytes are
// known to exist. docs/contract.md, section 10.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/border.hpp"
#include "base/checksum.hpp"
#include "base/float_guard.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "kith/error.hpp"
#include "kith/model.hpp"
#include "kith/parse.hpp"
#include "model/model_check.hpp"
#include "model/model_metric.hpp"
#include "model/model_parts.hpp"

namespace kith {
namespace {

template <class Choice>
void choose(std::string_view text, Choice& choice) {
  choice = parse<Choice>(text);
}

[[noreturn]] void fail(std::uint64_t byte, const std::string& why) {
  throw Error(Errc::bad_file, "byte " + std::to_string(byte) + ": " + why);
}

class ModelReader {
 public:
  ModelReader(int fd, std::uint64_t bytes) : fd_(fd), bytes_(bytes), end_(bytes) {}

  /// Returns where the content of a section begins.
  std::uint64_t start_of(std::string_view section) const {
    const auto at = starts_.find(section);
    if (at != starts_.end()) return at->second;
    return starts_.find(section == "rows" ? "rows64" : "model")->second;
  }

  /// Returns the version.
  std::uint64_t check_header() {
    std::array<char, 8> magic{};
    const std::size_t some = read_at(fd_, 0, magic.data(), magic.size());
    if (some == 0 || std::string_view(magic.data(), some) != model_magic.substr(0, some))
      fail(0, "this is no model of kith; name a file that save() wrote");
    if (bytes_ < model_header_bytes)
      fail(bytes_, "the file ends here, within its header of " + std::to_string(model_header_bytes) +
                       " bytes; copy it again");
    position_ = magic.size();
    const std::uint64_t version = size();
    if (version < model_version || version > model_version_of_metric)
      fail(magic.size(), "the format is version " + std::to_string(version) +
                             ", but this kith reads versions " + std::to_string(model_version) + " to " +
                             std::to_string(model_version_of_metric) + "; use the kith that wrote it");
    const std::uint64_t promised = size();
    if (bytes_ < promised)
      fail(bytes_,
           "the file ends here, but " + std::to_string(promised) + " bytes were written; copy it again");
    if (bytes_ > promised)
      fail(promised, "the file should end here, but has " + std::to_string(bytes_) + " bytes; copy it again");
    if (bytes_ < model_header_bytes + model_checksum_bytes)
      fail(bytes_, "the file ends here, before its checksum; save the model again");
    return version;
  }

  void check_sum() {
    constexpr std::uint64_t chunk = std::uint64_t{1} << 18;
    const std::uint64_t summed = bytes_ - model_checksum_bytes;
    std::vector<char> buffer(static_cast<std::size_t>(std::min(chunk, summed)));
    Checksum sum;
    for (position_ = 0; position_ < summed;) {
      const auto some = static_cast<std::size_t>(std::min(chunk, summed - position_));
      raw(buffer.data(), some);
      sum.add(buffer.data(), some);
    }
    if (size() != sum.value())
      fail(summed, "the checksum does not match; the file is damaged: copy it again");
    position_ = model_header_bytes;
    end_ = summed;
  }

  void check_end() {
    if (position_ != end_)
      fail(position_,
           std::to_string(end_ - position_) + " bytes follow the last section; save the model again");
  }

  template <class Body>
  void section(std::string_view name, const Body& body) {
    name_ = name;
    std::array<char, section_name_bytes> begin{}, wanted{};
    std::copy(name.begin(), name.end(), wanted.begin());
    const std::uint64_t start = position_, all = end_;
    need(begin.size() + sizeof(std::uint64_t), "its name and size");
    raw(begin.data(), begin.size());
    if (begin != wanted) fail(start, "section " + name_ + " should begin here; save the model again");
    const std::uint64_t long_as = size();
    need(long_as, "its content");
    starts_[std::string(name)] = position_;
    end_ = position_ + long_as;
    body(*this);
    if (position_ != end_)
      fail(position_, "section " + name_ + " goes on for " + std::to_string(end_ - position_) +
                          " bytes after its last part; save the model again");
    end_ = all;
  }

  void number(std::int64_t& value) { plain(value, "a number"); }

  void text(std::string& value) {
    const std::uint64_t length = counted(1, "characters of a text");
    value.resize(static_cast<std::size_t>(length));
    raw(value.data(), value.size());
  }

  template <class Choice>
  void choice(Choice& value) {
    const std::uint64_t start = position_;
    std::string chosen;
    text(chosen);
    if (const std::string shown = escaped(chosen); shown != chosen)  // the message of choose() quotes it
      fail(start, "\"" + shown + "\" is no name that kith writes; save the model again");
    try {
      choose(chosen, value);
    } catch (const Error& error) {
      fail(start, error.what());
    }
    if (name(value) != chosen)
      fail(start, "\"" + chosen + "\" is not written as kith writes it, " + std::string(name(value)) +
                      "; save the model again");
  }

  template <class T>
  void array(std::vector<T>& values) {
    values.resize(static_cast<std::size_t>(counted(sizeof(T), "numbers")));
    raw(values.data(), values.size() * sizeof(T));
    if constexpr (std::endian::native == std::endian::big)
      for (T& value : values) value = swapped(value);
  }

  template <class T, class Body>
  void list(std::vector<T>& values, const Body& body) {
    // Each element begins with its own size.
    for (std::uint64_t left = counted(sizeof(std::uint64_t), "parts of a list"); left > 0; --left)
      body(*this, values.emplace_back());
  }
  void texts(std::vector<std::string>& values) {
    list(values, [](ModelReader& from, std::string& value) { from.text(value); });
  }

 private:
  std::uint64_t size() {
    std::uint64_t value = 0;
    plain(value, "a size");
    return value;
  }

  /// Reads a count of elements of at least `least` bytes each, and checks that they fit.
  std::uint64_t counted(std::uint64_t least, const std::string& what) {
    const std::uint64_t start = position_, count = size(), left = end_ - position_;
    if (count > left / least)
      fail(start, std::to_string(count) + " " + what + " do not fit the " + std::to_string(left) +
                      " bytes that are left of section " + name_ + "; save the model again");
    return count;
  }

  void need(std::uint64_t bytes, const std::string& what) const {
    if (bytes > end_ - position_)
      fail(position_, "section " + name_ + " has " + std::to_string(end_ - position_) + " bytes left, but " +
                          what + " takes " + std::to_string(bytes) + "; save the model again");
  }

  template <class T>
  void plain(T& value, const std::string& what) {
    need(sizeof(T), what);
    raw(&value, sizeof(T));
    if constexpr (std::endian::native == std::endian::big) value = swapped(value);
  }

  /// Reads bytes that are known to lie before end_.
  void raw(void* to, std::size_t bytes) {
    const std::size_t got = read_at(fd_, static_cast<off_t>(position_), to, bytes);
    position_ += got;
    if (got < bytes) fail(position_, "the file ends here, though it was longer a moment ago; read it again");
  }

  template <class T>
  static T swapped(T value) {
    auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<T>(bytes);
  }

  int fd_;
  std::uint64_t bytes_, end_;  ///< bytes of the file; end of the section that is read
  std::uint64_t position_ = 0;
  std::string name_;
  std::map<std::string, std::uint64_t, std::less<>> starts_;
};

/// Runs body(), and puts the section into its messages.
template <class Body>
void at_section(const ModelReader& reader, std::string_view section, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    std::string_view why = error.what();
    constexpr std::string_view own = "model: ";
    if (why.starts_with(own)) why.remove_prefix(own.size());
    fail(reader.start_of(section), "section " + std::string(section) + ": " + std::string(why));
  }
}

void take_parameters(const ModelParameters& parameters, Model& model) {
  if (model.arithmetic == Arithmetic::automatic)
    refuse("model", "the arithmetic is automatic, which no rows have; save the model again");
  model.metric_options = metric_options_of(parameters);
}

Model read_model(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0)
    throw Error(Errc::bad_file, std::string("it cannot be read: ") + std::strerror(errno) +
                                    "; name a file that save() wrote");
  if (!S_ISREG(status.st_mode))
    throw Error(Errc::bad_file, "it is no ordinary file; name one that save() wrote");
  ModelReader reader(fd, static_cast<std::uint64_t>(status.st_size));
  Model model;
  const std::uint64_t version = reader.check_header();
  if (version == model_version_of_doubles) model.arithmetic = Arithmetic::f64;
  reader.check_sum();
  Preparation::Learned learned;
  ModelParameters taken;
  ModelParameters* const parameters = version == model_version_of_metric ? &taken : nullptr;
  model_parts(reader, model, learned, parameters);
  reader.check_end();
  if (parameters) at_section(reader, "metric", [&] { take_parameters(taken, model); });
  at_section(reader, "prepare", [&] { model.preparation = Preparation(std::move(learned)); });
  for (const ModelSection& section : model_checks())
    at_section(reader, section.name, [&] { section.check(model); });
  return model;
}

}  // namespace

Model load_model(const std::string& path) try {
  const FloatGuard guard;
  try {
    const Descriptor file(open_file(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0)
      throw Error(Errc::bad_file, std::string("it cannot be read: ") + std::strerror(errno) +
                                      "; name a file that save() wrote");
    return read_model(file.get());
  } catch (const Error& error) {
    throw Error(Errc::bad_file, "model: " + path + ": " + error.what());
  }
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
