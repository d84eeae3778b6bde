// kith manual: writes pages and completions from the parser's own tables.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "command/manual/manual.hpp"
#include "command/shared/command.hpp"
#include "command/shared/named_files.hpp"
#include "files/output.hpp"
#include "kith/error.hpp"
#include "kith/names.hpp"

namespace kith::command {
namespace {

namespace fs = std::filesystem;

struct ManualFlags {
  std::string form, of, folder;
};

void write_text(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    throw Error(Errc::bad_file, "manual: " + path.parent_path().string() + " cannot be made (" +
                                    error.message() + "); choose another folder for --out");
  files::AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// The folders below share/ of a prefix in which systems look for pages and completions.
void write_all(const Manual& manual, const fs::path& share) {
  const fs::path pages = share / "man" / "man1";
  write_text(pages / (manual.program.page() + ".1"), man_page(manual, manual.program));
  for (const ManualCommand& command : manual.commands)
    write_text(pages / (command.page() + ".1"), man_page(manual, command));
  write_text(share / "bash-completion" / "completions" / manual.program.name, bash_completion(manual));
  write_text(share / "zsh" / "site-functions" / manual.function(), zsh_completion(manual));
  write_text(share / "fish" / "vendor_completions.d" / (manual.program.name + ".fish"),
             fish_completion(manual));
}

const ManualCommand& command_named(const Manual& manual, const std::string& word) {
  if (word.empty()) return manual.program;
  std::vector<std::string> names;
  for (const ManualCommand& command : manual.commands) {
    if (command.word() == word) return command;
    names.push_back(command.word());
  }
  refuse("manual", "--of: there is no subcommand \"" + word + "\"; " + advice_on_name(word, names));
}

std::string text_of(const Manual& manual, const ManualFlags& flags) {
  const std::string form = plain_name(flags.form);
  if (form == "man") return man_page(manual, command_named(manual, flags.of));
  if (!flags.of.empty()) refuse("manual", "--of goes with --as man only; give --as man, or leave --of out");
  if (form == "markdown") return manual_markdown(manual);
  if (form == "bash") return bash_completion(manual);
  if (form == "zsh") return zsh_completion(manual);
  if (form == "fish") return fish_completion(manual);
  refuse("manual", "--as: there is no form \"" + flags.form + "\"; " +
                       advice_on_name(flags.form, {"man", "markdown", "bash", "zsh", "fish"}));
}

int run_manual(const CLI::App& parent, const ManualFlags& flags) {
  const Manual manual = manual_of(parent);
  if (flags.folder.empty() == flags.form.empty())
    refuse("manual", "--as FORM prints one, and --out DIR writes all; give one of them");
  if (flags.folder.empty())
    print(text_of(manual, flags));
  else
    write_all(manual, flags.folder);
  return exit_ok;
}

}  // namespace

Subcommand add_manual(CLI::App& parent) {
  auto flags = std::make_shared<ManualFlags>();
  CLI::App* app = parent.add_subcommand("manual", "Print man pages, and completions for bash, zsh and fish");
  app->add_option("--as", flags->form, "Print this: man, markdown, bash, zsh, fish")->type_name("WHAT");
  app->add_option("--of", flags->of, "Subcommand whose man page is printed (default: the program itself)")
      ->type_name("NAME");
  writes_folder(app->add_option("--out", flags->folder,
                                "Write man pages and completions into the subfolders of this share/ folder "
                                "where systems look for them"),
                {});
  const std::string program = parent.get_name(), page = program + " manual --as man --of manual | man -l -",
                    bash =
                        program + " manual --as bash > ~/.local/share/bash-completion/completions/" + program,
                    all = program + " manual --out ~/.local/share";
  add_examples(*app, {page, bash, all});
  return {app, [&parent, flags] { return run_manual(parent, *flags); }};
}

}  // namespace kith::command
