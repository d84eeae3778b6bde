#include "command/input/learned.hpp"

#include <CLI/CLI.hpp>

#include "command/input/elements.hpp"
#include "command/input/read_as.hpp"
#include "command/rows/group_column.hpp"
#include "command/shared/ranks.hpp"

namespace kith::command {

bool check_learned(const CLI::App& app, LearnedFlags& flags) {
  const std::string where = app.get_name();
  check_model_options(app);
  check_element_flags(app, flags.training.tables, flags.metric);
  admit_metric(where, flags.training, flags.metric);
  if (flags.model.empty()) require_answers(where, flags.training);
  const bool only_save = check_query_flags(app, flags.training, flags.query_flags, flags.save_model.empty());
  check_model_path(where, "--model", flags.model);
  check_model_path(where, "--save-model", flags.save_model);
  for (const char* option : {"--out", "--proba"})
    if (only_save && app.get_option_no_throw(option) && app.count(option) > 0)
      refuse(where,
             std::string(option) + " needs queries; give --queries FILE, --query VALUES or --leave-one-out");
  return only_save;
}

Training read_learned(const CLI::App& app, LearnedFlags& flags, Model& model) {
  const std::string where = app.get_name();
  Training training;
  if (!flags.model.empty() || !flags.save_model.empty())
    flags.training.tables.keep_elements = false;  // a model holds float32, and prepares queries
  if (!flags.save_model.empty() &&
      !(is_searched_as_read(flags.training) && flags.training.tables.missing == "refuse"))
    flags.training.single = "--save-model keeps rows that are prepared as float32; leave one of them out";
  if (flags.model.empty()) {
    flags.training.tables.in_parts = ranks() && !flags.query_flags.leave_one_out && flags.save_model.empty();
    training = read_training(where, flags.training);
    take_metric_of_file(app, training.rows.table, flags.metric);
  } else {
    training = read_model(where, flags.training, flags.model, model);
    const bool labels = flags.training.answers == TrainingFlags::Answers::labels;
    if ((labels ? training.labels.empty() : training.values.empty()))
      refuse(where, flags.model + (labels ? " is a model of `kith regress`; its values are no labels"
                                          : " is a model of `kith classify`; its labels are no values"));
    flags.metric = model.metric;
    if (app.count("-k") == 0 && model.k > 0) flags.query_flags.k = model.k;
  }
  if (flags.by_k()) check_k(where, flags.query_flags.k, training, flags.query_flags.leave_one_out);
  return training;
}

void save_learned(const CLI::App& app, const LearnedFlags& flags, Training& training,
                  const VotingOptions& voting) {
  if (flags.save_model.empty() || !speaks()) return;
  write_model(flags.save_model, model_of(app.get_name(), training, flags.metric,
                                         flags.by_k() ? flags.query_flags.k : 0, voting));
}

SearchOptions question_options(const QuestionFlags& flags, const Training& training, const Rows& queries) {
  SearchOptions options = plan_options(flags.plan);
  options.filter = training.filter_words();
  options.groups = groups_of(queries, flags.training.tables, training);
  if (flags.query_flags.leave_one_out) options.self = 0;
  return options;
}

}  // namespace kith::command
