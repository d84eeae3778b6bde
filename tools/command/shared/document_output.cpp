#include "command/shared/document_output.hpp"

#include <CLI/CLI.hpp>
#include <fstream>

#include "command/shared/json.hpp"
#include "command/shared/named_files.hpp"

namespace kith::command {

void add_document_options(CLI::App& app, DocumentFlags& flags, const std::string& csv_help,
                          const std::string& report_help, const std::string& json_help) {
  if (!csv_help.empty()) writes_file(app.add_option("--table", flags.csv, csv_help));
  if (!report_help.empty()) writes_file(app.add_option("--report", flags.report, report_help));
  app.add_flag("--json", flags.json, json_help);
}

DocumentOutput::DocumentOutput(const std::string& where, const DocumentFlags& flags,
                               std::vector<std::pair<std::string, std::string>> others) {
  others.insert(others.end(), {{"--table", flags.csv}, {"--report", flags.report}});
  if (flags.json) check_json_alone(where, others);
  csv_ = OutputFile(flags.csv);
  report_ = OutputFile(flags.report);
}

void DocumentOutput::write(const report::Document& document) {
  if (csv_) csv_->write(report::csv(document));
  if (report_) report_->write(report::page(document));
}

void DocumentOutput::commit() {
  csv_.commit();
  report_.commit();
}

void print_document(const report::Document& document, const DocumentFlags& flags) {
  print(flags.json ? json_text(report::json(document)) : report::text(document));
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text, word;
  while (std::getline(file, word, '\0')) {
    if (text.empty()) word.erase(0, word.rfind('/') + 1);
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789-_./:,=+@%") == std::string::npos;
    std::string quoted;
    for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return text;
}

}  // namespace kith::command
