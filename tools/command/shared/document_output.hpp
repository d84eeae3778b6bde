// The outputs of a document: --table, --report and --json.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "command/shared/output_file.hpp"
#include "report/document.hpp"

namespace kith::command {

struct DocumentFlags {
  std::string csv, report;  ///< files
  bool json = false;
};

/// Adds --table and --report if there is a help text for them, and --json.
void add_document_options(CLI::App& app, DocumentFlags& flags, const std::string& csv_help,
                          const std::string& report_help, const std::string& json_help = "Print JSON");

/// The files of a document, each a temporary file until all is done.
class DocumentOutput {
 public:
  ///   others  other outputs: their options and paths
  /// Throws invalid_argument: --json and one of the outputs both go to stdout.
  DocumentOutput(const std::string& where, const DocumentFlags& flags,
                 std::vector<std::pair<std::string, std::string>> others = {});

  void write(const report::Document& document);
  void commit();

 private:
  OutputFile csv_, report_;
};

/// Prints the document to stdout, as JSON if that is asked for.
void print_document(const report::Document& document, const DocumentFlags& flags);

}  // namespace kith::command
