#include "command/words/write.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace kith::command {

void add_write_option(CLI::App& app, std::vector<Key> keys) {
  add_keys(
      app,
      {"--write",
       "How results are written",
       std::move(keys),
       {"kith search --train base.npy --queries query.npy -k 10 --out-index - --write format=tsv,header=no",
        "kith evaluate --train digits.csv --label digit --write class-names=zero,one --report k.html"}});
}

void add_output_options(CLI::App& app, OutputFlags& flags, const std::vector<Key>& more) {
  std::vector<Key> keys = {
      {"format", "WHAT",
       "format of stdout (-) and of outputs whose names do not tell it: csv, tsv, txt, npy, ivecs, fvecs, "
       "ibin, fbin; else csv",
       [&flags](const std::string& text) {
         flags.format = named_one(text, {"csv", "tsv", "txt", "npy", "ivecs", "fvecs", "ibin", "fbin"});
       }},
      {"header", "yes|no", "whether .csv and .tsv outputs begin with the names of their columns; else yes",
       [&flags](const std::string& text) {
         flags.header = named_one(text, {"yes", "no"});
       }}};
  keys.insert(keys.end(), more.begin(), more.end());
  add_write_option(app, std::move(keys));
}

Key class_names_key(std::vector<std::string>& names) {
  return {"class-names", "NAME,...", "names of the labels 0, 1, 2, ... in the report",
          [&names](const std::string& text) {
            for (std::string& one : split_commas(text)) names.push_back(std::move(one));
          }};
}

}  // namespace kith::command
