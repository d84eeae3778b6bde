// Tests models of the command: one file byte for byte, what models keep, and what is refused.
#include "common/model.hpp"
#include "common/shell.hpp"
#include "kith/model.hpp"

namespace command_tests::test_command_models {
namespace {

/// `kith classify --train t.csv --label kind --scale standardize --prepare categories=one-hot --votes
/// distance -k 2 --save-model` as version 1 of the format has it, without names of columns of labels. t.csv:
/// width,colour,height,kind;
/// 1,red,10,plum; 2,blue,20,pear; 3,red,35,plum; 4.5,green,41,fig; 7,blue,50,fig.
constexpr const char* saved_model =
    "936b6974686d646c01000000000000009c030000000000006d6f64656c00000032000000000000000a00000000000000"
    "737175617265645f6c320200000000000000050000000000000005000000000000000100000000000000766f74696e67"
    "00004600000000000000080000000000000064697374616e63650e00000000000000736d616c6c6573745f6c6162656c"
    "00000000000000800000000000000000000000000000000000000000000000007072657061726500e800000000000000"
    "030000000000000007000000000000006f6e655f686f7401000000000000000100000000000000010000000000000003"
    "0000000000000000000000000000000100000000000000020000000000000001000000000000000b0000000000000073"
    "74616e64617264697a65010000000000000005000000000000000000000000000c409a9999999999d93f9a9999999999"
    "c93f9a9999999999d93f3333333333333f400500000000000000f6566ac9ebc700404b68dbec7c5adf3f9a9999999999"
    "d93f4b68dbec7c5adf3f8c4d0c5ee8d32c4006000000000000007265667573650000000000000000636f6c756d6e7300"
    "7d0000000000000000000000000000000300000000000000050000000000000077696474680600000000000000636f6c"
    "6f7572060000000000000068656967687403000000000000000000000000000000030000000000000004000000000000"
    "00626c75650500000000000000677265656e03000000000000007265640000000000000000726f7773000000006c0000"
    "00000000001900000000000000d48d98bfec0551bf000000bf71c49c3f5143bcbf981037bf71c49c3f000000bfec0551"
    "bf5aeb46bf201674beec0551bf000000bf71c49c3f22fb863e2016f43eec0551bf00000040ec0551bfef0d2e3f5c93d5"
    "3f71c49c3f000000bfec0551bf3ef3a63f6c6162656c7300005b00000000000000050000000000000002000000000000"
    "000100000000000000020000000000000000000000000000000000000000000000030000000000000003000000000000"
    "006669670400000000000000706561720400000000000000706c756d76616c7565730000080000000000000000000000"
    "0000000073616d706c657300080000000000000000000000000000006f726967696e0000180000000000000000000000"
    "000000000000000000000000ffffffffffffffff756e7265616400001000000000000000000000000000000000000000"
    "000000005a31b5de57caae27";

string from_hex(const string& text) {
  string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

const string table =
    "width,colour,height,kind\n1,red,10,plum\n2,blue,20,pear\n3,red,35,plum\n4.5,green,41,fig\n7,blue,50,"
    "fig\n";

}  // namespace

TEST_CASE("model: a file of version 1 answers, and is saved as it was") {
  const Folder folder;
  const string old = folder.write("v1.kith", from_hex(saved_model));
  const Result result =
      kith("classify --device cpu --model " + old + " --query 2.2,red,22 --query 6,blue,50");
  CHECK(result.code == 0);
  CHECK(result.out ==
        "2.2,red,22: plum\nrank  row    distance  label\n   1    2  0.95889306  plum\n"
        "   2    0   1.0203803  plum\n\n6,blue,50: fig\nrank  row    distance  label\n"
        "   1    4  0.22727273  fig\n   2    1   7.9682856  pear\n");
  kith::save(kith::load_model(old), folder / "again.kith");
  CHECK(folder.read("again.kith") == folder.read("v1.kith"));
}

TEST_CASE("model: queries that have the label are compared with it") {
  const Folder folder;
  const string train = folder.write("t.csv", table);
  REQUIRE(
      kith("classify --device cpu --train " + train + " --label -1 -k 1 --save-model " + (folder / "m.kith"))
          .code == 0);
  const string asked = "classify --device cpu --model " + (folder / "m.kith") + " --queries ";
  CHECK(kith(asked + train).out == "accuracy 1.0000 (5 of 5)\n");
  CHECK(
      kith(asked + folder.write("kind_first.csv", "kind,width,colour,height\nplum,1,red,10\nfig,2,blue,20\n"))
          .out == "accuracy 0.5000 (1 of 2)\n");
  CHECK(kith(asked + folder.write("bare.csv", "width,colour,height\n1,red,10\n")).out == "plum\n");
  check_refused(asked + folder.write("other.csv", "width,colour,height,sort\n1,red,10,plum\n"), 2,
                "invalid_argument: " + (folder / "other.csv") + ": has 4 columns but " + (folder / "m.kith") +
                    " has 3; queries need the columns of the training rows; a column with the true answers "
                    "is named by --label sort (or --target); what else they have is left out, with --model "
                    "or --index by --drop sort");
  CHECK(kith(asked + (folder / "other.csv") + " --label sort").out == "accuracy 1.0000 (1 of 1)\n");

  const string prices = folder.write("p.csv", "a,price\n1,10\n2,20\n3,30\n");
  REQUIRE(kith("regress --device cpu --train " + prices + " --target price -k 1 --save-model " +
               (folder / "r.kith"))
              .code == 0);
  CHECK(contains(kith("regress --device cpu --model " + (folder / "r.kith") + " --queries " + prices).out,
                 "price    0     0    1        3\n"));
}

TEST_CASE("model: the base of .svm files and the rows that are left are kept") {
  const Folder folder;
  const string train = folder.write("t.svm", "1 0:1 2:3\n-1 1:1\n1 0:2 2:3\n");
  REQUIRE(kith("classify --device cpu --train " + train + " -k 1 --save-model " + (folder / "m.kith")).code ==
          0);
  const string asked = "classify --device cpu --model " + (folder / "m.kith") + " --queries ";
  // No line has an index 0. If indices were read as starting at 1, the first row would be nearest to the
  // second training row.
  CHECK(kith(asked + folder.write("q.svm", "1 2:2.5\n-1 1:1\n")).out == "accuracy 1.0000 (2 of 2)\n");
  check_refused(
      asked + folder.write("wide.svm", "1 5:1\n"), 2,
      "invalid_argument: " + (folder / "wide.svm") + ":1: has the index 5 but " + (folder / "m.kith") +
          " has 3 columns; queries need the columns of the training rows: leave higher indices out");

  const string holes = folder.write("h.csv", "a,b,kind\n1,1,x\n,2,y\n5,5,y\n");
  REQUIRE(kith("classify --device cpu --prepare missing=drop --train " + holes +
               " --label kind -k 1 --metric l2 --save-model " + (folder / "h.kith"))
              .code == 0);
  const string filter = folder.write("f.csv", "1\n2\n");
  const Result result =
      kith("classify --device cpu --model " + (folder / "h.kith") + " --query 4,4 --query 1,NA");
  CHECK(result.out ==
        "4,4: y\nrank  row   distance  label\n   1    2  1.4142135  y\n\n1,NA: ?\n"
        "no neighbours: a value is missing, or no row is within the radius\n");
  CHECK(contains(
      kith("classify --device cpu --model " + (folder / "h.kith") + " --query 1,1 --filter " + filter).out,
      "   1    2"));
}

TEST_CASE("model: missing values and the origin of rows, byte for byte, and what is refused") {
  using namespace kith;
  using namespace kith::tests::models;
  const kith::tests::data_files::Folder folder;
  Model model = small_regressor();
  model.metric = Metric::l2;
  model.answer_names = {"price", "age"};
  model.row_numbers = {0, 2, 7};
  model.first_index = 0;
  PreparationOptions options{.missing = Missing::mean};
  model.preparation = Preparation(MatrixView<const float>(model.rows.data(), 3, 2), options);
  save(model, folder / "m.kith");
  Sections sections = sections_of(folder.read("m.kith"));
  const string mean = bytes<double>({(4.0 + static_cast<double>(1e-45f)) / 3, 1});
  CHECK(content_of(sections, "prepare") ==
        words({2}) + text("ordinal") + words({0, 0, 0, 0}) + text("mean") + words({2}) + mean);
  CHECK(content_of(sections, "origin") ==
        words({2}) + text("price") + text("age") + words({3, 0, 2, 7}) + words({0}));
  CHECK(folder.read("m.kith") == assembled(sections));
  const Model back = load_model(folder / "m.kith");
  CHECK(back.answer_names == model.answer_names);
  CHECK(back.row_numbers == model.row_numbers);
  CHECK(back.first_index == 0);
  CHECK(back.preparation.learned().fills == model.preparation.learned().fills);
  save(back, folder / "again.kith");
  CHECK(folder.read("again.kith") == folder.read("m.kith"));

  const auto error = [&](const string& content) {
    folder.write("bad.kith", content);
    return folder.error([&] { load_model(folder / "bad.kith"); });
  };
  Sections bad = sections;
  content_of(bad, "origin") = words({0, 3, 0, 2, 2}) + words({-1});
  CHECK(contains(error(assembled(bad)), "section origin: 3 numbers for 3 rows, or they do not ascend"));
  content_of(bad, "origin") = words({1}) + text("price") + words({0, -1});
  CHECK(
      contains(error(assembled(bad)), "section origin: 1 names for 2 outputs; give one an output, or none"));
  content_of(bad, "origin") = words({0, 0, 2});
  CHECK(contains(error(assembled(bad)), "section origin: the first index is 2"));
  bad = sections;
  content_of(bad, "prepare") = words({2}) + text("ordinal") + words({0, 0, 0, 0}) + text("mean") + words({0});
  CHECK(contains(error(assembled(bad)),
                 "section prepare: preparation: there are 0 values in place of missing"));
  for (const int version : {0, 4, 5})
    CHECK(contains(error(assembled(sections, version)), "byte 8: the format is version " +
                                                            std::to_string(version) +
                                                            ", but this kith reads versions 1 to 3"));
  const string good = folder.read("m.kith");
  for (std::size_t at = 0; at < good.size(); ++at) {
    string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK(!error(changed).empty());
  }
}

}  // namespace command_tests::test_command_models
