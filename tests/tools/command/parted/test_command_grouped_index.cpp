// Tests what the command says of an index file whose rows have groups.
#include "common/shell.hpp"
#include "kith/device.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"

TEST_CASE("groups column: an index file with groups is refused, whose groups no query would name") {
  const command_tests::Folder folder;
  const std::string path = folder / "grouped.kidx";
  const float rows[] = {1, 2, 3};
  kith::IndexOptions options;
  options.groups = {0, 2, 3};
  const kith::Index index(kith::open_device("cpu"), kith::MatrixView<const float>(rows, 3, 1),
                          kith::Metric::l2, options);
  save(index, path);
  command_tests::check_refused("search --query 1 -k 1 --index " + path, 6,
                               "unsupported: search: " + path +
                                   ": its rows have groups, and the command divides queries by the groups of "
                                   "--train alone; give the rows by --train, with --groups-column");
}
