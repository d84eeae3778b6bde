// Model files that are damaged, foreign or forged: docs/contract.md, section 10.
#include <sys/stat.h>

#include "common/device.hpp"
#include "common/model.hpp"

namespace kith::tests {
namespace {

using namespace models;

/// Writes the bytes of a file to a folder.
class Files {
 public:
  string saved(const Model& model) const {
    save(model, folder_ / "m.kith");
    return folder_.read("m.kith");
  }
  /// Returns the message with which a file is refused.
  string refusal(const string& file) const {
    folder_.write("m.kith", file);
    return folder_.error([&] { load_model(folder_ / "m.kith"); });
  }
  /// Returns the refusal without the part that all refusals share.
  string why(const string& file) const {
    const string start = "bad_file: model: m.kith: ", error = refusal(file);
    return error.starts_with(start) ? error.substr(start.size()) : error;
  }
  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
};

TEST_CASE("model: every byte that changes and every length that is not right is refused") {
  const Files files;
  for (const Model& model : {small_classifier(), small_regressor()}) {
    const string good = files.saved(model);
    REQUIRE(files.refusal(good) == "no error");
    for (std::size_t at = 0; at < good.size(); ++at)
      for (const int change : {1, 0xFF}) {
        CAPTURE(at);
        string flipped = good;
        flipped[at] = static_cast<char>(flipped[at] ^ change);
        CHECK(files.refusal(flipped).starts_with("bad_file: model: m.kith: byte "));
      }
    for (std::size_t length = 0; length < good.size(); ++length) {
      CAPTURE(length);
      CHECK(files.refusal(good.substr(0, length)).starts_with("bad_file: model: m.kith: byte "));
    }
    for (const string& more : {string(1, '\0'), string("\n"), good})
      CHECK(files.why(good + more) ==
            "byte " + std::to_string(good.size()) + ": the file should end here, but has " +
                std::to_string(good.size() + more.size()) + " bytes; copy it again");
  }
}

TEST_CASE("model: with a right checksum a changed byte is refused, or means what it says") {
  const Files files;
  std::size_t accepted = 0, refused = 0;
  for (const Model& model : {small_classifier(), small_regressor(), weighted_regressor()}) {
    const string good = files.saved(model);
    for (std::size_t at = 24; at + 8 < good.size(); ++at)
      for (const int change : {1, 0x80, 0xFF}) {
        CAPTURE(at);
        string made_up = good.substr(0, good.size() - 8);
        made_up[at] = static_cast<char>(made_up[at] ^ change);
        made_up = with_checksum(made_up);
        const string error = files.refusal(made_up);
        if (error == "no error") {
          ++accepted;
          CHECK(files.saved(load_model(files.folder() / "m.kith")) == made_up);
        } else {
          ++refused;
          CHECK(error.starts_with("bad_file: model: m.kith: byte "));
        }
      }
  }
  CHECK(accepted > 100);
  CHECK(refused > 1000);
}

TEST_CASE("model: files that are none, word for word") {
  const Files files;
  const string good = files.saved(small_classifier());
  const string foreign = "byte 0: this is no model of kith; name a file that save() wrote";
  for (const string& other : {string(), string("PK\3\4"), string("kith"), string(100, '\0')})
    CHECK(files.why(other) == foreign);
  CHECK(files.why(good.substr(0, 5)) ==
        "byte 5: the file ends here, within its header of 24 bytes; copy it again");
  CHECK(files.why(good.substr(0, 24)) == "byte 24: the file ends here, but " + std::to_string(good.size()) +
                                             " bytes were written; copy it again");
  const string magic = good.substr(0, 8);
  CHECK(files.why(with_checksum(magic + words({5, 32}))) ==
        "byte 8: the format is version 5, but this kith reads versions 1 to 3; use the kith that wrote it");
  CHECK(files.why(magic + words({1, 24})) ==
        "byte 24: the file ends here, before its checksum; save the model again");
  string damaged = good;
  damaged[40] = 'x';
  CHECK(files.why(damaged) == "byte " + std::to_string(good.size() - 8) +
                                  ": the checksum does not match; the file is damaged: copy it again");
  CHECK(files.why(assembled({})) ==
        "byte 24: section model has 0 bytes left, but its name and size takes 16; save the model again");
  const Folder& folder = files.folder();
  CHECK(folder.error([&] { load_model(folder / "none.kith"); }) ==
        "bad_file: model: none.kith: it cannot be read: No such file or directory; name a file that save() "
        "wrote");
  CHECK(folder.error([&] { load_model("/dev"); }) ==
        "bad_file: model: /dev: it is no ordinary file; name one that save() wrote");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(folder.error([&] { load_model(folder / "pipe"); }) ==
        "bad_file: model: pipe: it is no ordinary file; name one that save() wrote");
}

/// Changes one section, and returns why the file is refused, without "byte N: ". Checks that N is `offset`
/// bytes after the beginning of the section's content.
string changed(const Files& files, const Model& model, const string& name, std::size_t offset, auto change) {
  Sections sections = sections_of(files.saved(model));
  change(content_of(sections, name));
  const string why = files.why(assembled(sections));
  const string start = "byte " + std::to_string(start_of(sections, name) + offset) + ": ";
  CAPTURE(why);
  CHECK(why.starts_with(start));
  return why.substr(std::min(start.size(), why.size()));
}

TEST_CASE("model: sizes that promise more than there is") {
  const Files files;
  const Model model = small_classifier();
  const auto with_count = [&](const string& name, std::size_t at, std::int64_t count) {
    return changed(files, model, name, at, [&](string& content) { content.replace(at, 8, words({count})); });
  };
  for (const std::int64_t count : {std::int64_t{25}, std::int64_t{1} << 62, std::int64_t{-1}})
    CHECK(with_count("rows", 0, count) ==
          std::to_string(static_cast<std::uint64_t>(count)) +
              " numbers do not fit the 96 bytes that are left of section rows; save the model again");
  CHECK(with_count("labels", 40, std::int64_t{1} << 60) ==
        "1152921504606846976 parts of a list do not fit the 21 bytes that are left of section labels; save "
        "the model again");
  CHECK(with_count("labels", 48, 1000) ==
        "1000 characters of a text do not fit the 13 bytes that are left of section labels; save the model "
        "again");
  CHECK(changed(files, model, "rows", 96, [](string& content) { content.replace(0, 8, words({22})); }) ==
        "section rows goes on for 8 bytes after its last part; save the model again");
  CHECK(changed(files, model, "model", 34, [](string& content) { content.resize(39); }) ==
        "section model has 5 bytes left, but a number takes 8; save the model again");
  CHECK(changed(files, model, "samples", 0, [](string& content) { content = string(3, '\0'); }) ==
        "section samples has 3 bytes left, but a size takes 8; save the model again");

  const string good = files.saved(model);
  Sections sections = sections_of(good);
  string summed = good.substr(0, good.size() - 8);
  summed.replace(32, 8, words({std::int64_t{1} << 50}));
  CHECK(files.why(with_checksum(summed)) ==
        "byte 40: section model has " + std::to_string(good.size() - 48) +
            " bytes left, but its content takes 1125899906842624; save the model again");
  std::swap(sections[4], sections[5]);
  CHECK(files.why(assembled(sections)) == "byte " + std::to_string(start_of(sections, "labels") - 16) +
                                              ": section rows should begin here; save the model again");
  std::swap(sections[4], sections[5]);
  sections.emplace_back("more", "");
  CHECK(files.why(assembled(sections)) == "byte " + std::to_string(good.size() - 8) +
                                              ": 16 bytes follow the last section; save the model again");
}

TEST_CASE("model: contents that mean nothing, and where they are") {
  const Files files;
  const Model model = small_classifier();
  const auto replaced = [&](const string& name, std::size_t offset, const string& from, const string& to) {
    return changed(files, model, name, offset, [&](string& content) {
      const std::size_t at = content.find(from);
      REQUIRE(at != string::npos);
      content.replace(at, from.size(), to);
    });
  };
  const auto overwritten = [&](const string& name, std::size_t at, const string& to) {
    return changed(files, model, name, 0, [&](string& content) { content.replace(at, to.size(), to); });
  };
  CHECK(replaced("model", 0, text("l1"), text("l3")) ==
        "metric: there is none called \"l3\"; choose one of squared_l2, l2, l1, linf, negative_dot, cosine, "
        "hamming, correlation, spearman, seuclidean, mahalanobis, hellinger"
        ", angular, haversine, minkowski, gower, matching, canberra, nan_gower, jaccard, dice, sokalsneath, "
        "rogerstanimoto, russellrao, braycurtis, nan_euclidean, nan_manhattan");
  CHECK(replaced("model", 0, text("l1"), text("l\x1b")) ==
        "\"l\\x1b\" is no name that kith writes; save the model again");
  CHECK(replaced("model", 0, text("l1"), text("L1")) ==
        "\"L1\" is not written as kith writes it, l1; save the model again");
  CHECK(replaced("model", 0, text("l1"), text("manhattan")) ==
        "\"manhattan\" is not written as kith writes it, l1; save the model again");
  CHECK(replaced("model", 0, text("l1"),
                 text("\x9b"
                      "31m\x85")) ==
        "\"\\x9b31m\\x85\" is no name that kith writes; save the model again");  // terminals obey this byte
  CHECK(replaced("model", 0, text("l1"), text(string(100, 'x'))) ==
        "\"" + string(80, 'x') + "...\" is no name that kith writes; save the model again");
  CHECK(replaced("voting", 0, text("rank"), text("rang")) ==
        "weights: there is none called \"rang\"; did you mean rank?");
  CHECK(replaced("voting", 12, text("nearest"), text("NEAREST")) ==
        "\"NEAREST\" is not written as kith writes it, nearest; save the model again");
  CHECK(replaced("prepare", 8, text("one_hot"), text("two_hot"))
            .starts_with("categories: there is none called \"two_hot\"; "));
  CHECK(replaced("prepare", 138, text("l2_rows"), text("l3_rows"))
            .starts_with("scaling: there is none called \"l3_rows\"; "));
  CHECK(overwritten("model", 10, words({5})) ==
        "section model: k = 5 but it holds 4 rows; choose k from 1 to 4, or 0 to leave it open");
  CHECK(overwritten("model", 18, words({0})) ==
        "section model: it has n = 0 rows, dims = 6 columns and 1 outputs; each must be at least 1");
  const float nan = std::nanf("");
  CHECK(overwritten("rows", 8 + 4 * (6 * 3 + 2), bytes<float>({nan})) ==
        "section rows: training row 3, column 2 holds NaN; make every value finite, or leave the row out");
  CHECK(overwritten("rows", 8, bytes<float>({-inf})) ==
        "section rows: training row 0, column 0 holds an infinity; make every value finite, or leave the row "
        "out");
  CHECK(overwritten("samples", 8 + 4 * 2, bytes<float>({-1.0f})) ==
        "section samples: the sample weight of training row 2 is -1; weights are finite, and 0 or more");
  CHECK(overwritten("labels", 8, words({2})) ==
        "section labels: the label of row 0 is 2, which has no text; there are those of 0 to 1");
  CHECK(overwritten("columns", 8, words({7})) ==
        "section columns: there is no feature 7; prepared columns are 0 to 5");
  CHECK(overwritten("prepare", 0, words({2})) ==
        "section prepare: preparation: there is no column 2 to hold categories; columns are 0 to 1");
  CHECK(replaced("voting", 0, bytes<double>({0.25}), bytes<double>({std::nan("")})) ==
        "section voting: the prior of class 0 is nan; priors lie between 1e-100 and 1e+100");
  CHECK(replaced("voting", 0, bytes<float>({0.25f}), bytes<float>({nan})) ==
        "section voting: the weight of rank 2 is nan; weights are finite, and 0 or more");
  Sections sections = sections_of(files.saved(small_regressor()));
  content_of(sections, "values").replace(8, 8, bytes<double>({std::nan("")}));
  CHECK(files.why(assembled(sections)) ==
        "byte " + std::to_string(start_of(sections, "values")) +
            ": section values: a value of row 0 is nan; make every value finite");
}

}  // namespace
}  // namespace kith::tests
