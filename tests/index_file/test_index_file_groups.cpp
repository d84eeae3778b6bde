// Tests index files of rows with groups: docs/contract.md, section 9.
#include <random>

#include "common/data_files.hpp"
#include "common/device.hpp"
#include "common/parted/groups.hpp"
#include "common/searches.hpp"
#include "kith/index_file.hpp"
#include "kith/source.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;

TEST_SUITE_BEGIN("device");

TEST_CASE("groups: index files keep them, whatever the metric and the arithmetic") {
  std::mt19937 random(12);
  const Borders borders = random_borders(7, 40, 90, random);
  const Folder folder;
  for (const Metric metric : {Metric::l2, Metric::cosine})
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
      const Matrix rows = hard_rows(DataKind::uniform, Set::train, borders.back(), 3, metric);
      const Index index(device(), rows, metric, {.groups = borders, .arithmetic = arithmetic});
      save(index, folder / "a.kidx");
      CHECK(index_file_info(folder / "a.kidx").groups == static_cast<std::int64_t>(borders.size()) - 1);
      const Index opened = open_index(folder / "a.kidx", device());
      Trace trace;
      CHECK(opened.search(rows, 5, {.self = 0}, &trace) == index.search(rows, 5, {.self = 0}));
      CHECK(trace.plan.groups == static_cast<std::int64_t>(borders.size()) - 1);
      save(opened, folder / "again.kidx");
      CHECK(folder.read("again.kidx") == folder.read("a.kidx"));
    }
}

TEST_CASE("groups: index files of bytes keep them, which are searched as floats") {
  std::vector<std::uint8_t> bytes(3 * 300);
  std::mt19937 random(13);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  const RowsView rows(bytes.data(), Element::u8, 300, 3);
  const Folder folder;
  const Index index(device(), rows, Metric::l2, {.groups = {0, 100, 100, 300}});
  save(index, folder / "a.kidx");
  CHECK(open_index(folder / "a.kidx", device()).search(rows, 4) == index.search(rows, 4));
}

TEST_CASE("groups: an index file of them is opened whole, and is no source") {
  const Folder folder;
  save(Index(device(), matrix(1, {0, 1, 2, 3}), Metric::l1, {.groups = {0, 2, 4}}), folder / "a.kidx");
  CHECK(
      folder.error([&] { open_index(folder / "a.kidx", device(), {.rows = 2}); })
          .ends_with(
              "first = 0, rows = 2: the rows have groups, which are not opened in parts; open all of them"));
  CHECK(folder.error([&] { file_source(folder / "a.kidx"); })
            .ends_with("the rows have groups, which a source of rows does not have; open the index itself"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
