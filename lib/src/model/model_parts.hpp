// States the content of a model file in its order, once for counting, writing and reading.
#pragma once

#include <cstdint>
#include <string_view>

#include "kith/model.hpp"

namespace kith {

/// Before the first section there are these eight bytes, the version, and the size of the whole file.
inline constexpr std::string_view model_magic = "\x93kithmdl";
/// Version 2 has rows of doubles, in the section `rows64` in place of `rows`. Version 3 begins with the
/// section `metric`, which says what the metric takes, and whether rows are doubles.
inline constexpr std::uint64_t model_version = 1, model_version_of_doubles = 2, model_version_of_metric = 3;
inline constexpr std::uint64_t model_header_bytes = 24, model_checksum_bytes = 8;

/// A section begins with its name, padded with zeros, and the size of its content.
inline constexpr std::size_t section_name_bytes = 8;

/// Passes every section of `model` to `stream`, which must have section(name, body), number(integer),
/// array(vector of numbers), text(string), texts(vector of strings), choice(enumerator) and list(vector, body
/// of one element).
///   learned     what its preparation learned
///   parameters  what its metric takes; if there are none, there is no section of them
template <class Stream, class AnyModel, class Learned, class Parameters>
void model_parts(Stream& stream, AnyModel& model, Learned& learned, Parameters& parameters) {
  if (parameters)
    stream.section("metric", [&](auto& s) {
      s.choice(model.arithmetic);
      s.list(*parameters, [](auto& one, auto& parameter) {
        one.text(parameter.name);
        one.array(parameter.values);
      });
    });
  stream.section("model", [&](auto& s) {
    s.choice(model.metric);
    s.number(model.k);
    s.number(model.n);
    s.number(model.dims);
    s.number(model.outputs);
  });
  stream.section("voting", [&](auto& s) {
    s.choice(model.voting.weights);
    s.choice(model.voting.tie);
    s.number(model.voting.no_label);
    s.array(model.voting.rank_weights);
    s.array(model.voting.priors);
    s.array(model.voting.costs);
  });
  stream.section("prepare", [&](auto& s) {
    s.number(learned.dims);
    s.choice(learned.options.categories);
    s.array(learned.options.categorical);
    s.list(learned.categories, [](auto& one, auto& categories) { one.array(categories); });
    s.list(learned.options.scalings, [](auto& one, auto& scaling) { one.choice(scaling); });
    s.list(learned.columns, [](auto& one, auto& columns) {
      one.array(columns.shift);
      one.array(columns.divisor);
    });
    s.choice(learned.options.missing);
    s.array(learned.fills);
  });
  stream.section("columns", [&](auto& s) {
    s.array(model.features);
    s.texts(model.columns);
    s.list(model.category_texts, [](auto& one, auto& texts) { one.texts(texts); });
  });
  if (model.arithmetic == Arithmetic::f64)
    stream.section("rows64", [&](auto& s) { s.array(model.rows64); });
  else
    stream.section("rows", [&](auto& s) { s.array(model.rows); });
  stream.section("labels", [&](auto& s) {
    s.array(model.labels);
    s.texts(model.label_texts);
  });
  stream.section("values", [&](auto& s) { s.array(model.values); });
  stream.section("samples", [&](auto& s) { s.array(model.sample_weights); });
  stream.section("origin", [&](auto& s) {
    s.texts(model.answer_names);
    s.array(model.row_numbers);
    s.number(model.first_index);
  });
  stream.section("unread", [&](auto& s) {
    s.array(model.unread);
    s.texts(model.unread_names);
  });
}

}  // namespace kith
