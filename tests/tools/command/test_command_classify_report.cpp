// Tests the report of kith classify, and its refusals. All cases run on the CPU.
#include "common/shell.hpp"

namespace command_tests::test_command_classify_report {
namespace {

const char* const line = "x,kind\n1,b\n2,a\n3,a\n5,b\n8,b\n";

}  // namespace

TEST_CASE("classify: what does not fit together is refused, in one line") {
  const Folder folder;
  const string train = folder.write("line.csv", line);
  const string base = "classify --device cpu --label kind --train " + train + " --query 0 ";
  const auto refused = [&](const string& arguments, const string& message) {
    check_refused(base + arguments, 2, "invalid_argument: classify: " + message);
  };
  refused("-k 2 --radius 3", "-k and --radius are both given; choose one");
  refused("--k-sweep 1,2 --radius 3", "--radius and --k-sweep are both given; choose one");
  refused("--radius far", "--radius: \"far\" is no finite number; give a distance");
  refused("--leave-one-out", "--query and --leave-one-out are both given; choose one");
  refused("--votes outlier=b",
          "--votes outlier is for queries with no row within --radius; give both, or no-label");
  refused("--votes weights=heavy",
          "--votes weights: there is no \"heavy\"; choose one of uniform, distance, rank");
  refused("--votes tie=often",
          "--votes tie: there is no \"often\"; choose one of smallest-label, nearest, smallest-distance, "
          "fewer-neighbors, abstain");
  refused("-k 3 --votes weights=rank",
          "--votes weights=rank needs rank-weights; give a number for each rank, as rank-weights=3,2,1");
  refused("-k 3 --votes weights=rank,rank-weights=3,2",
          "--votes rank-weights has 2 numbers but 3 neighbours vote; give one for each rank");
  refused("-k 3 --votes rank-weights=3,2,1", "--votes rank-weights is for weights=rank; give both");
  refused("-k 2 --votes weights=rank,rank-weights=3,-1",
          "--votes rank-weights: \"-1\" is no finite number of at least 0; correct it");
  refused("--votes priors=c:1", "--votes priors: no training row has the label \"c\"; there are a, b");
  refused("--votes priors=a",
          "--votes priors: \"a\" is no LABEL:P with P above 0; write it as priors=a:0.2,b:0.8");
  refused("--votes priors=a:0",
          "--votes priors: \"a:0\" is no LABEL:P with P above 0; write it as priors=a:0.2,b:0.8");
  refused("--votes priors=a:1,a:2", "--votes priors gives \"a\" twice; give it once");
  const string costs = folder.write("costs.csv", "0,1,2\n1,0,2\n");
  refused("--votes costs=" + costs, costs +
                                        " holds 2 x 3 numbers but there are 2 classes (a, b); give a row for "
                                        "each that is right, and a column for each that is answered");
  const string named = folder.write("named.csv", "b,a\n0,1\n1,0\n");
  refused("--votes costs=" + named,
          named + ": column 1 is called \"b\" but class 1 is \"a\"; put rows and columns in the order a, b");
  const string weights = folder.write("weights.csv", "1\n2\n");
  refused("--votes sample-weights=" + weights,
          weights + " holds 2 weights but " + train + " 5 rows; give one a row");
  const string filter = folder.write("filter.csv", "0\n5\n");
  refused("--filter " + filter, filter + " names row 5 but " + train + " holds rows 0 to 4; correct it");
  const string two = folder.write("two.csv", "0\n3\n");
  refused("-k 3 --filter " + two,
          "k = 3 but --filter leaves 2 rows; choose a smaller k, or let more rows count");
  refused("--features 1,x", "--features: column 1 (x) is named twice; name it once");
  refused("--features 3", "--features: " + train + " has no column \"3\"; its columns are called \"x\"");
  refused("--features kind",
          "--features: " + train + " has no column \"kind\"; its columns are called \"x\"");
  refused("--features 2", "--features: column 2 of " + train + " holds labels or targets; leave it out");
  refused("--scale huge",
          "--scale: there is none called \"huge\"; choose one of centre (mean 0), standardize (mean 0, "
          "deviation 1), min-max (0 to 1), l2 (each row divided by its norm)");
  refused("--scale standardise", "--scale: there is none called \"standardise\"; did you mean standardize?");
  refused("--votes tie=nearset", "--votes tie: there is no \"nearset\"; did you mean nearest?");
  refused("--metric manhatan", "--metric: there is none called \"manhatan\"; did you mean manhattan?");
  refused("--features X,zx", "--features: " + train + " has no column \"X\"; did you mean \"x\"?");
  refused("--radius -1", "--radius: -1 is below 0, and no distance is; give a radius of 0 or more for l2");
  refused("--prepare categories=one-hot",
          "--prepare categories=one-hot: no column of " + train +
              " holds text; name columns of numbers that are categories by --prepare categorical=");
  refused("--out same.csv --proba same.csv", "--out and --proba are the same file; give two names");
  check_refused("classify --query 1", 2,
                "invalid_argument: classify: there are no training rows; give --train FILE, --index FILE or "
                "--model FILE");
  const string numbers = folder.write("numbers.csv", "a,b,c,kind\n1,2,3,0\n4,5,6,1\n");
  check_refused(
      "classify --train " + numbers + " --label kind -k 1 --query 1,2,3 --features 3-1", 2,
      "invalid_argument: classify: --features: the range 3-1 runs backwards; give the smaller column first");
}

TEST_CASE("a report is one page that needs nothing else, and shows text as text") {
  const Folder folder;
  const string train = folder.write("t.csv", "x,<b>&,kind\n0,0,a<i>\n0,1,a<i>\n5,5,b\n5,6,b\n");
  const string queries = folder.write("q.csv", "x,<b>&,kind\n0,0,b\n5,5,b\n");
  const Result result =
      kith("classify --train " + train + " --queries " + queries +
           " --label-column kind -k 1 --k-sweep 1,2 --device cpu --report " + (folder / "r.html"));
  CHECK(result.code == 0);
  const string page = folder.read("r.html");
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(contains(page, "50.00 %"));
  CHECK(contains(page, "a&lt;i&gt;"));
  CHECK(!contains(page, "a<i>"));
  CHECK(!contains(page, "<b>&"));
  for (const char* outside : {"http://", "https://", "<script", "<link", "@import"}) {
    CAPTURE(string(outside));
    CHECK(!contains(page, outside));
  }
}

TEST_CASE("classify: a report counts rows without an answer, and names what was decided") {
  const Folder folder;
  const string train = folder.write("line.csv", line);
  const Result result =
      kith("classify --device cpu --label kind --metric l1 --radius 0.5 --votes weights=distance --train " +
           train + " --queries " + folder.write("q.csv", "x,kind\n1,b\n50,a\n") + " --report " +
           (folder / "r.html"));
  CHECK(result.out == "accuracy 0.5000 (1 of 2)\n");
  const string page = folder.read("r.html");
  CHECK(contains(page, "by a vote of all training rows within 0.5."));
  CHECK(contains(page, "no answer"));
  CHECK(contains(page, "<dt>Votes weigh by</dt><dd>distance</dd>"));
}

TEST_CASE("classify: a report spells choices as their options do, and says where a value is missing") {
  const Folder folder;
  const string train = folder.write("mixed.csv", "age,plan,kind\n1,a,x\n2,,y\n,a,x\n4,b,y\n5,a,x\n6,b,x\n");
  const Result result = kith("classify --device cpu --label kind --train " + train +
                             " --leave-one-out -k 3 --prepare missing=most-frequent,categories=one-hot "
                             "--scale min-max --votes tie=fewer-neighbors --report " +
                             (folder / "r.html"));
  CHECK(result.code == 0);
  const string page = folder.read("r.html");
  CHECK(contains(page, "<dt>Text columns</dt><dd>one-hot</dd>"));
  CHECK(contains(page, "<dt>Missing values</dt><dd>most-frequent</dd>"));
  CHECK(contains(page, "<dt>Scale</dt><dd>min-max</dd>"));
  CHECK(contains(page, "<dt>Ties go to</dt><dd>fewer-neighbors</dd>"));
  CHECK(contains(page, "<bdi>missing</bdi>"));
  CHECK(!contains(page, "nan<"));
}

}  // namespace command_tests::test_command_classify_report
