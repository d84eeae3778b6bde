// kith index info: shows what an index file holds.
#include <nlohmann/json.hpp>

#include "command/index/index.hpp"
#include "command/input/index_input.hpp"
#include "command/shared/json.hpp"
#include "files/source.hpp"

namespace kith::command {
namespace {

void verify_all(const std::string& path) {
  ActivityLine activity("reading " + files::shown_name(path));
  OpenOptions options{.stop = interrupt_token()};
  options.progress = [&](double part) { activity.update(part); };
  verify_index_file(path, options);
}

std::string info_json(const IndexFlags& flags, const IndexFileInfo& info) {
  nlohmann::ordered_json all = {{"file", flags.file},
                                {"version", info.version},
                                {"bytes", info.bytes},
                                {"metric", name(info.metric)},
                                {"element", name(info.element)},
                                {"arithmetic", name(arithmetic_of(info))},
                                {"rows", info.rows - info.removed},
                                {"removed", info.removed},
                                {"next_row", info.next_row},
                                {"dims", info.dims},
                                {"features", info.features},
                                {"first_row", info.first_row},
                                {"centred", info.centred},
                                {"periodic", info.periodic},
                                {"prepared", info.prepared},
                                {"groups", info.groups},
                                {"verified", flags.verify},
                                {"sections", nlohmann::ordered_json::array()}};
  for (const IndexFileSection& section : info.sections)
    all["sections"].push_back({{"name", section.name},
                               {"element", section.element},
                               {"offset", section.offset},
                               {"bytes", section.bytes},
                               {"needed", section.needed}});
  return json_text(all);
}

std::string info_text(const IndexFlags& flags, const IndexFileInfo& info) {
  std::string text = files::shown_name(flags.file) + ": " + std::to_string(info.rows - info.removed) +
                     " rows of " + std::to_string(info.dims) +
                     (compares_bits(info.metric) ? " bits" : " columns");
  if (info.features != info.dims) text += ", of which " + std::to_string(info.features) + " count";
  text += ", " + std::string(name(info.metric)) + ", " + format_bytes(info.bytes) + "\n";
  if (info.first_row > 0)
    text += "a shard: its rows are numbered from " + std::to_string(info.first_row) + "\n";
  if (arithmetic_of(info) == Arithmetic::f64)
    text += "it computes in double precision: distances are float64\n";
  if (info.centred) text += "it has a centre, which is subtracted from rows and queries\n";
  if (info.periodic) text += "its rows are in a periodic box, into which queries are moved\n";
  if (info.prepared) text += "its rows are prepared for the metric, as queries are\n";
  if (info.groups > 0)
    text += "its rows are in " + std::to_string(info.groups) + (info.groups == 1 ? " group\n" : " groups\n");
  if (info.removed > 0)
    text += std::to_string(info.removed) + " removed rows take " + (info.removed == 1 ? "its" : "their") +
            " place until `kith index compact`\n";
  TextTable table({"section", "element", "offset", "bytes"});
  for (const IndexFileSection& section : info.sections)
    table.add({section.name, section.element, std::to_string(section.offset), std::to_string(section.bytes)});
  text += table.text();
  if (flags.verify) text += "every byte is as its checksums say\n";
  return text;
}

}  // namespace

int show_index(const IndexFlags& flags) {
  const IndexFileInfo info = index_file_info(flags.file);
  if (flags.verify) verify_all(flags.file);
  print(flags.json ? info_json(flags, info) : info_text(flags, info));
  return exit_ok;
}

}  // namespace kith::command
