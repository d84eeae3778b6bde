// Tests the experiment on KDD Cup 1999, with artificial rows in its format.
#include "common/data_files.hpp"
#include "lab/experiments/gsknn/gsknn_kdd.hpp"
#include "lab/experiments/measure.hpp"
#include "tools/lab/experiments.hpp"
#include "workloads/random.hpp"

using namespace kith;
using namespace kith::experiments;
using kith::tests::contains;
using kith::tests::error_of;
using kith::tests::quick_settings;
using kith::tests::data_files::Folder;
using kith::tests::data_files::gzip;

namespace {

const std::array<const char*, 22> attack_names = {
    "back",        "land",        "neptune",         "pod",          "smurf", "teardrop", "ipsweep", "nmap",
    "portsweep",   "satan",       "ftp_write",       "guess_passwd", "imap",  "multihop", "phf",     "spy",
    "warezclient", "warezmaster", "buffer_overflow", "loadmodule",   "perl",  "rootkit"};

/// Returns a connection of one kind: its texts and numbers depend on the kind, but for the last digit of
/// each number.
std::string line_of(const std::string& name, std::uint64_t kind, workloads::Random& random) {
  const char* const protocols[] = {"tcp", "udp", "icmp"};
  const char* const services[] = {"http", "smtp", "ftp", "eco_i"};
  const auto number = [&] { return std::to_string(10 * kind + static_cast<std::uint64_t>(random.below(4))); };
  std::string line = number() + "," + protocols[kind % 3] + "," + services[kind % 4] + ",SF";
  for (int column = 4; column < 41; ++column)
    line += column < 7 ? "," + number() : column < 9 ? ",0.5" : ",0";
  return line + "," + name + ".\n";
}

/// Returns rows in the format of kddcup.data: normal connections, with `attacks` of each of the 22 names
/// among them.
std::string made_up(std::int64_t normal, std::int64_t attacks) {
  workloads::Random random(7);
  std::string text;
  for (std::int64_t i = 0; i < normal; ++i) text += line_of("normal", 0, random);
  for (std::int64_t i = 0; i < attacks; ++i)
    for (std::size_t name = 0; name < attack_names.size(); ++name)
      text += line_of(attack_names[name], 1 + name, random);
  return text;
}

/// Returns how many of the rows belong to each class of attacks.
std::array<std::int64_t, 5> class_counts(const kdd::Connections& all, const std::vector<std::int64_t>& rows) {
  std::array<std::int64_t, 5> counts{};
  for (const std::int64_t row : rows) ++counts[static_cast<std::size_t>(all.class_of(row))];
  return counts;
}

}  // namespace

TEST_CASE("gsknn-kdd: every label has its class, with and without its dot") {
  std::array<int, 5> names{};
  for (const char* name : attack_names) {
    CAPTURE(name);
    const std::int64_t c = kdd::class_of(name);
    REQUIRE(c > 0);
    CHECK(kdd::class_of(std::string(name) + ".") == c);
    ++names[static_cast<std::size_t>(c)];
  }
  CHECK(names == std::array<int, 5>{0, 6, 4, 8, 4});
  CHECK(kdd::class_of("normal.") == kdd::normal);
  CHECK(kdd::class_names[static_cast<std::size_t>(kdd::class_of("smurf."))] == "dos");
  CHECK(kdd::class_names[static_cast<std::size_t>(kdd::class_of("satan."))] == "probe");
  CHECK(kdd::class_names[static_cast<std::size_t>(kdd::class_of("spy."))] == "r2l");
  CHECK(kdd::class_names[static_cast<std::size_t>(kdd::class_of("perl."))] == "u2r");
  CHECK(kdd::class_of("smurf..") == -1);
  CHECK(kdd::class_of("mailbomb.") == -1);
}

TEST_CASE("gsknn-kdd: a draw has the sizes asked for, no row twice, and attacks without training rows") {
  const Folder folder;
  const kdd::Connections all = kdd::read(folder.write("kddcup.data_10_percent.gz", gzip(made_up(60, 6))));
  REQUIRE(all.rows() == 60 + 22 * 6);
  CHECK(all.names.size() == 23);
  const kdd::Sizes sizes{30, 24, 20, 40};
  std::set<std::vector<std::int64_t>> different;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    const kdd::Draw draw = kdd::draw(all, sizes, seed);
    CHECK(draw.train == kdd::draw(all, sizes, seed).train);
    CHECK(draw.test == kdd::draw(all, sizes, seed).test);
    different.insert(draw.test);
    CHECK(class_counts(all, draw.train) == std::array<std::int64_t, 5>{30, 6, 6, 6, 6});
    CHECK(class_counts(all, draw.test) == std::array<std::int64_t, 5>{20, 10, 10, 10, 10});
    std::set<std::int64_t> rows(draw.train.begin(), draw.train.end());
    rows.insert(draw.test.begin(), draw.test.end());
    CHECK(rows.size() == 30 + 24 + 20 + 40);
    // The classes have 6, 4, 8 and 4 names; a quarter of them, rounded down, is unknown.
    std::array<int, 5> unknown{};
    for (const std::int64_t name : draw.unknown)
      ++unknown[static_cast<std::size_t>(all.class_of_name[static_cast<std::size_t>(name)])];
    CHECK(unknown == std::array<int, 5>{0, 1, 1, 2, 1});
    for (const std::int64_t row : draw.train) CHECK(draw.knows(all.name_of(row)));
    std::set<std::int64_t> asked;
    for (const std::int64_t row : draw.test) asked.insert(all.name_of(row));
    for (const std::int64_t name : draw.unknown) CHECK(asked.count(name) == 1);
  }
  CHECK(different.size() == 8);
  CHECK(contains(error_of([&] {
                   kdd::draw(all, {61, 1, 1, 1}, 1);
                 }),
                 "only 60 normal connections to learn from, but the experiment takes 61; give all of "
                 "kddcup.data_10_percent.gz"));
  // With 17 names of six rows each, half of the attacks are 51.
  CHECK(contains(error_of([&] {
                   kdd::draw(all, {1, 52, 1, 1}, 1);
                 }),
                 "only 51 attacks to learn from, but the experiment takes 52"));
}

TEST_CASE("gsknn-kdd: halves hold each row once, and of each name as good as half") {
  const Folder folder;
  const kdd::Connections all = kdd::read(folder.write("some.data", made_up(41, 3)));
  for (const std::int64_t every : {1, 2}) {
    CAPTURE(every);
    const kdd::Halves halves = kdd::halves(all, every, 5);
    CHECK(std::is_sorted(halves.train.begin(), halves.train.end()));
    std::vector<std::int64_t> difference(all.names.size()), total(all.names.size());
    std::set<std::int64_t> rows;
    for (const auto* half : {&halves.train, &halves.test})
      for (const std::int64_t row : *half) {
        rows.insert(row);
        difference[static_cast<std::size_t>(all.name_of(row))] += half == &halves.train ? 1 : -1;
        ++total[static_cast<std::size_t>(all.name_of(row))];
      }
    CHECK(static_cast<std::int64_t>(rows.size()) == (every == 1 ? 41 + 66 : 21 + 44));
    for (std::size_t name = 0; name < total.size(); ++name) {
      CHECK(difference[name] * difference[name] <= 1);
      CHECK(total[name] == (all.names[name] == "normal" ? (every == 1 ? 41 : 21) : every == 1 ? 3 : 2));
    }
  }
}

TEST_CASE("gsknn-kdd: text becomes columns, and numbers lie between 0 and 1 by the training rows") {
  const Folder folder;
  const kdd::Connections all = kdd::read(folder.write("some.data", made_up(8, 1)));
  std::vector<std::int64_t> train = {0, 1, 2, 3, 8, 9}, test = {4, 10};  // normal, back, land; neptune
  const kdd::Prepared rows = kdd::prepare(all, train, test);
  std::set<float> protocols, services;
  for (const std::int64_t row : train) {
    protocols.insert(all.table.values[static_cast<std::size_t>(row * 41 + 1)]);
    services.insert(all.table.values[static_cast<std::size_t>(row * 41 + 2)]);
  }
  CHECK(rows.width == 38 + 1 + static_cast<std::int64_t>(protocols.size() + services.size()));
  REQUIRE(rows.train.size() == 6 * static_cast<std::size_t>(rows.width));
  REQUIRE(rows.test.size() == 2 * static_cast<std::size_t>(rows.width));
  CHECK(*std::min_element(rows.train.begin(), rows.train.end()) == 0);
  CHECK(*std::max_element(rows.train.begin(), rows.train.end()) == 1);
  // The duration of neptune is 30 to 33, outside the range 0 to 23 of the training rows.
  CHECK(rows.test[static_cast<std::size_t>(rows.width)] > 1);
}

TEST_CASE("gsknn-kdd: what is no file of KDD Cup 1999 is refused, with where to get it") {
  const std::string where =
      "; get kddcup.data_10_percent.gz from the UCI KDD archive, "
      "https://kdd.ics.uci.edu/databases/kddcup99/kddcup99.html";
  CHECK(error_of([] { kdd::check_data(""); }) ==
        "invalid_argument: gsknn-kdd: needs the rows of KDD Cup 1999" + where + ", and give --data FILE");
  CHECK(error_of([] { kdd::read("/no/such/file"); }) ==
        "bad_file: gsknn-kdd: /no/such/file: there is no such file" + where);
  const Folder folder;
  const auto refusal = [&](const std::string& content) {
    return folder.error([&] { kdd::read(folder.write("some.data", content)); });
  };
  CHECK(refusal("0,tcp,http,SF,1,normal.\n") ==
        "bad_file: gsknn-kdd: some.data: has 5 columns beside the label, but KDD Cup 1999 41" + where);
  std::string line = made_up(1, 0);
  const std::string label = "normal.";
  CHECK(refusal(line + line.substr(0, line.size() - label.size() - 1) + "mailbomb.\n") ==
        "bad_file: gsknn-kdd: some.data: holds the label \"mailbomb.\", which is none of the 23 of the "
        "training data of KDD Cup 1999" +
            where);
  CHECK(refusal(line.substr(0, line.size() - label.size() - 1) + "7\n") ==
        "bad_file: gsknn-kdd: some.data: its last column holds numbers, not labels such as smurf." + where);
  CHECK(refusal("many" + line.substr(1)) ==
        "bad_file: gsknn-kdd: some.data: column 1 holds text (\"many\"), but in KDD Cup 1999 columns 2, 3 "
        "and 4 alone do" +
            where);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("experiment gsknn-kdd: the labels and neighbours of the CPU") {
  const Folder folder;
  Settings settings = quick_settings();
  settings.data = folder.write("kddcup.data_10_percent.gz", gzip(made_up(5200, 30)));
  const Result result = run_experiment(find_experiment("gsknn-kdd"), settings);
  const bool other = settings.devices[0].info().spec != settings.cpu.info().spec;
  REQUIRE(result.checks.size() == (other ? 5 : 1));
  for (const Check& check : result.checks) CHECK_MESSAGE(check.passed, check.what << ": " << check.detail);
  REQUIRE(result.claims.size() == 2);
  CHECK(result.claims[0].paper == not_available);
  // 2 draws, 7 values of k and 500 rows make 7000 labels.
  if (other) CHECK(result.claims[1].here.starts_with("0 of 7000 labels differ"));
  REQUIRE(result.charts.size() == 2);
  CHECK(result.charts[0].series.size() == 5);
  CHECK(result.charts[1].series.size() == 3);
  for (const Chart& chart : result.charts)
    for (const Series& series : chart.series) {
      CAPTURE(series.label);
      REQUIRE(series.points.size() == 7);
      for (const Point& point : series.points) CHECK((point.y >= 0 && point.y <= 100));
    }
  // Attacks lie far from normal connections, so with k = 1 all of a known name are found.
  CHECK(result.charts[0].series[3].points[0].y == 100);
  CHECK(result.charts[1].series[0].points[0].y == 0);
  REQUIRE(result.tables.size() == 4);
  CHECK(result.tables[0].rows.size() == (other ? 14 : 7));
  CHECK(result.tables[1].rows.size() == (other ? 2 : 1));
  if (other)
    for (std::size_t c = 1; c < 5; ++c) CHECK(result.tables[1].rows[0][c] == result.tables[1].rows[1][c]);
  for (std::size_t t = 2; t < 4; ++t) {
    REQUIRE(result.tables[t].rows.size() == 5);
    CHECK(result.tables[t].rows[0][0] == "normal");
    // Every 100th of 5200 normal rows is taken, and half of those.
    CHECK(result.tables[t].rows[0][1] == "26");
  }
}

TEST_SUITE_END();
