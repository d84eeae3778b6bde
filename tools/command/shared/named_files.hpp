// Options that name files: they say which files are read and which are written, so that no output of a
// command overwrites an input of the same command.
//
// Every option that names a file or a folder goes through one of these when it is added:
//
//   reads_file(app.add_option("--train", flags.train, "Training rows"));
//   writes_file(app.add_option("--out", flags.out, "Write the labels"));
//
// check_named_files() then compares them after the command line is parsed and before anything is read.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // declared, not included, as in command.hpp
class App;
class Option;
}  // namespace CLI

namespace kith::command {

/// Marks an option whose value is a file that is read. Returns the option, which then shows `FILE`.
CLI::Option* reads_file(CLI::Option* option);

/// Marks an option whose value is a file that is written.
CLI::Option* writes_file(CLI::Option* option);

/// Returns the files in the value of an option, each behind the words that name it: `--votes costs`,
/// `costs.csv`.
using FilesIn =
    std::function<std::vector<std::pair<std::string, std::string>>(const std::vector<std::string>& given)>;

/// Marks an option that names files among other words; these files are read.
void reads_files_in(CLI::Option* option, FilesIn files);

/// Marks a file that stores the progress of a command: only this option reads it and then writes it.
CLI::Option* keeps_file(CLI::Option* option);

/// Marks a folder whose files with one of these endings are read or written. The option shows `DIR`.
CLI::Option* reads_folder(CLI::Option* option, std::vector<std::string> endings);
CLI::Option* writes_folder(CLI::Option* option, std::vector<std::string> endings);

/// Returns the options of `app` that show `FILE` or `DIR` but were not marked: a defect of kith.
std::vector<std::string> unknown_file_options(const CLI::App& app);

/// Compares the files that the command line names. Two names are one file if device and inode are the same,
/// whatever the paths are; files that do not exist yet are one file if folder and name are the same.
/// Throws invalid_argument: an output is an input, or lies where kith keeps the results of `kith tune`; two
///                          outputs are one file; two inputs are the same pipe.
void check_named_files(const CLI::App& app);

/// Throws invalid_argument: an input is stdin, which only one of several ranks has.
void refuse_stdin(const CLI::App& app);

}  // namespace kith::command
