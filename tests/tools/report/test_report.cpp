// Tests reports: foreign names, numbers, and readable colours.
#include "common/test.hpp"
#include "common/text.hpp"
#include "report/charts/axis.hpp"
#include "report/charts/palette.hpp"
#include "report/document.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

using namespace kith::report;
using test_support::contains;
using test_support::count;

TEST_CASE("report: text is shown as text, whatever its bytes") {
  CHECK(escape("<b>&\"'") == "&lt;b&gt;&amp;&quot;&#39;");
  CHECK(escape("caf\xC3\xA9 \xF0\x9F\x98\x80") == "caf\xC3\xA9 \xF0\x9F\x98\x80");
  CHECK(escape("K\xE4se") == "K\xEF\xBF\xBDse");
  CHECK(escape("\xC3") == "\xEF\xBF\xBD");  // ends too early
  // These are an overlong form and half a surrogate pair.
  CHECK(escape("\xC0\xAF\xED\xA0\x80") == escape("\xFF\xFF\xFF\xFF\xFF"));
  CHECK(escape("a\tb\nc") == "a\tb\nc");
}

TEST_CASE("report: controls and what turns the direction of text are shown, not obeyed") {
  CHECK(escape("a\x1b[31mred") == "a\\x1b[31mred");
  CHECK(escape(std::string("\0\r\x7f", 3)) == "\\x00\\x0d\\x7f");
  CHECK(escape("\xC2\x85") == "\\u0085");
  CHECK(escape("\xE2\x80\xAE"
               "abc") == "\\u202eabc");
  CHECK(escape("\xE2\x81\xA6\xE2\x81\xA9\xE2\x80\xA8") == "\\u2066\\u2069\\u2028");
  CHECK(escape("\xE2\x80\xAF\xE2\x81\xAA\xD7\x90") == "\xE2\x80\xAF\xE2\x81\xAA\xD7\x90");
}

TEST_CASE("report: a name has a direction of its own, stays on its line, and is cut where it is long") {
  CHECK(name_html("a<b>") == "<bdi>a&lt;b&gt;</bdi>");
  CHECK(name_html("two\nlines\t") == "<bdi>two\\nlines\\t</bdi>");
  CHECK(name_html("abcdef", 4) == "<bdi title=\"abcdef\">abc…</bdi>");
  CHECK(name_html("äöüß", 4) == "<bdi>äöüß</bdi>");
  CHECK(name_html(std::string(5000, 'x')).size() < 600);
  CHECK(name_text("plain & \"quoted\"") == "plain &amp; &quot;quoted&quot;");
  CHECK(name_text("\xD7\x90") == "\u2068\xD7\x90\u2069");
  CHECK(name_text("abcdef", 4) ==
        "\u2068"
        "abc…\u2069");
}

TEST_CASE("report: numbers are written in one way") {
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(-1234) == "-1,234");
  CHECK(grouped(999) == "999");
  CHECK(shortest(1833.25f) == "1,833.25");
  CHECK(shortest(-1833.25f) == "-1,833.25");
  CHECK(shortest(37507500.0f) == "37,507,500");
  CHECK(shortest(123456.7f) == "123,457");
  CHECK(shortest(0.5f) == "0.5");
  CHECK(shortest(std::numeric_limits<float>::infinity()) == "inf");
  CHECK(number_text(3103) == "3,103");
  CHECK(number_text(1234.567, 6) == "1,234.57");
  CHECK(number_text(1200.001, 6) == "1,200");
  CHECK(number_text(999.97) == "1,000");
  CHECK(number_text(-12345.6) == "-12,346");
  CHECK(grouped_numbers("n = 10240, 2048 queries, K = 16") == "n = 10,240, 2048 queries, K = 16");
  CHECK(grouped_numbers("n = 2048") == "n = 2,048");
  CHECK(grouped_numbers("in 2016 by 131072.5 and 0.123456, knn12345") ==
        "in 2016 by 131,072.5 and 0.123456, knn12345");
  CHECK(grouped_numbers("2048") == "2,048");
  CHECK(grouped_numbers("1,048,576 0123456") == "1,048,576 0123456");
}

TEST_CASE("report: contrast is that of WCAG") {
  CHECK(contrast(black, white) == doctest::Approx(21));
  CHECK(contrast(white, white) == doctest::Approx(1));
  CHECK(contrast({0x77, 0x77, 0x77}, white) == doctest::Approx(4.478).epsilon(1e-3));
  CHECK(contrast({255, 0, 0}, white) == doctest::Approx(3.998).epsilon(1e-3));
  CHECK(luminance({0, 255, 0}) == doctest::Approx(0.7152));
  CHECK(mixed({0, 0, 0}, {255, 128, 0}, 0.5) == Rgb{128, 64, 0});
  CHECK(hex({0x0b, 0x72, 0x85}) == "#0b7285");
}

TEST_CASE("report: every cell of a map can be read in both themes, whatever its strength") {
  double least = 21;
  for (const char* fill : {"good", "bad"})
    for (int step = 0; step <= 1000; ++step) {
      const double strength = step / 1000.0;
      const std::string chosen = text_class(fill, strength);
      REQUIRE(chosen.size() == 2);
      const auto check = [&](Rgb card, Rgb over, char letter) {
        const double ratio = contrast(mixed(card, over, strength), letter == 'b' ? black : white);
        least = std::min(least, ratio);
        CHECK_MESSAGE(ratio >= 4.5, fill, " ", strength, " ", letter);
      };
      check(colour("card").light, colour(fill).light, chosen[0]);
      check(colour("card").dark, colour(fill).dark, chosen[1]);
      for (const char* rule : {"svg .", " { fill: #"}) CHECK(contains(text_rules, rule));
      CHECK(contains(text_rules, "." + chosen));
    }
  CHECK(least < 6);  // the whole scale was tested: somewhere black and white have about the same contrast
}

TEST_CASE("report: texts have a contrast of 4.5, and lines of charts one of 3, in both themes") {
  for (const char* text : {"ink", "quiet"})
    for (const char* ground : {"page", "card", "code"}) {
      CHECK(contrast(colour(text).light, colour(ground).light) >= 4.5);
      CHECK(contrast(colour(text).dark, colour(ground).dark) >= 4.5);
    }
  for (const char* text : {"good", "bad"}) {
    CHECK(contrast(colour(text).light, colour("card").light) >= 4.5);
    CHECK(contrast(colour(text).dark, colour("card").dark) >= 4.5);
  }
  for (int series = 0; series < 8; ++series) {
    const Colour& line = colour("s" + std::to_string(series));
    CHECK(contrast(line.light, colour("card").light) >= 3);
    CHECK(contrast(line.dark, colour("card").dark) >= 3);
  }
  for (const Colour& c : palette()) CHECK(count(colour_rules(), "--" + std::string(c.name) + ": #") >= 2);
}

TEST_CASE("report: a matrix is a picture whose cells have names, and a table") {
  const Confusion confusion(2, std::vector<std::int64_t>{3103, 1, 0, 2});
  const std::string map = heat_map(confusion, {"a<b>",
                                               "\xE2\x80\xAE"
                                               "turned"});
  CHECK(contains(map, "role=\"group\" aria-label=\"Which class was taken for which\""));
  CHECK(count(map, "<g role=\"img\"><title>") == 3);
  CHECK(contains(map, "<title>a&lt;b&gt; taken for itself: 3,103 of 3,104 (100.0 %)</title>"));
  CHECK(contains(map, "<title>a&lt;b&gt; taken for \\u202eturned: 1 of 3,104 (0.0 %)</title>"));
  CHECK(contains(map, ">3,103</text>"));
  CHECK(
      contains(map, "<th scope=\"row\" class=\"name\"><bdi>a&lt;b&gt;</bdi></th><td class=\"n\">3,103</td>"));
  CHECK(contains(map, "<td class=\"n\">0</td>"));
  CHECK(contains(map, "<caption>"));
  CHECK(!contains(map, "3103"));
}

TEST_CASE("report: large distances are written in thousands, in the map and not in its titles") {
  const std::string map = distance_map({1234567, 250000, 250000, 99}, {"a", "b"});
  CHECK(contains(map, "Mean distances of classes, in thousands"));
  CHECK(contains(map, ">1,235</text>"));
  CHECK(contains(map, "a in itself: 1,234,567"));
  CHECK(!contains(distance_map({3103, 2, 2, 1}, {"a", "b"}), "thousands"));
}

TEST_CASE("report: of very many classes the picture has a table of its strongest cells") {
  constexpr std::size_t classes = 130;
  std::vector<std::int64_t> counts(classes * classes, 0);
  std::vector<std::string> names;
  for (std::size_t c = 0; c < classes; ++c) {
    names.push_back("class " + std::to_string(c));
    for (std::size_t p = c; p < std::min(c + 5, classes); ++p) counts[c * classes + p] = 10;
  }
  const std::string map = heat_map(Confusion(classes, counts), names);
  CHECK(contains(map, "<img alt=\"Which class was taken for which: rows are true class"));
  CHECK(contains(map, "The 300 strongest of 510 pairs of two classes, as a table"));
  CHECK(count(map, "<th scope=\"row\"") == 300);
}

TEST_CASE("report: tables can be reached by keys, and their heads say what they are for") {
  const std::string html = table("Cap", {{"class"}, {"rows", true}, {""}},
                                 "<tr>" + row_name("a") + number_cell("1") + "<td></td></tr>", "<tr></tr>");
  CHECK(
      html ==
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Cap\"><table><caption>Cap</caption>"
      "<thead><tr><th scope=\"col\">class</th><th scope=\"col\" class=\"n\">rows</th><td></td></tr></thead>"
      "<tbody><tr><th scope=\"row\" class=\"name\">a</th><td class=\"n\">1</td><td></td></tr></tbody>"
      "<tfoot><tr></tr></tfoot></table></div>");
  Document document;
  document.add(metric_fact("squared_l2"));
  CHECK(contains(page(document),
                 "<div><dt>Metric</dt><dd>Euclidean distance, squared<small>squared_l2</small></dd></div>"));
}

TEST_CASE("report: the numbers of a sweep stand beside its chart, folded where they are many") {
  std::vector<SweepPoint> sweep;
  const auto page_of = [&] {
    Document document;
    document.add(Section{"Sweep", ""});
    add_sweep(document, sweep, 2000, 2, sweep_table(sweep, 2000, true));
    const std::string all = page(document);
    return all.substr(all.find("<section>"), all.find("</section>") - all.find("<section>"));
  };
  for (std::int64_t k = 1; k <= 4; ++k) sweep.push_back({k, 1000 + k});
  const std::string few = page_of();
  CHECK(contains(
      few, "<th scope=\"row\" class=\"n\">4</th><td class=\"n\">50.20 %</td><td class=\"n\">1,004</td>"));
  CHECK(!contains(few, "<details>"));
  CHECK(contains(few, "role=\"group\" aria-label=\"Accuracy over k\""));
  CHECK(count(few, "role=\"img\"") == 6);  // one per chart, plus the best values and the whole page
  for (std::int64_t k = 5; k <= 40; ++k) sweep.push_back({k, 1000 + k});
  CHECK(contains(page_of(), "<details><summary>The numbers</summary>"));
}

namespace {

Document document_of_kinds() {
  Document document;
  document.head = {"title", "what was done", "1", "unit", "a sentence"};
  document.add(Words{"first line\n"});
  document.add(Fact{"rows", "Rows", 1234567, "small <b>print</b>"});
  document.add(Fact{"quiet", "", nullptr});
  document.add(Fact{"", "Loud", "n = 2048"});
  document.add(Data{"late", [] { return Value{1, 2}; }});
  document.add(Section{"A part", "a note"});
  Table table{"Caption",
              "list",
              {{Kind::name, "class", "class", "label", "label"},
               {Kind::whole, "rows", "rows", "rows", "rows"},
               {Kind::number, "mean", "mean", "mean", "mean"},
               {Kind::share, "share", "share", "", ""},
               {Kind::bar, "", "precision"},
               {Kind::mark}},
              2,
              {}};
  table.row = [](std::size_t i) -> std::vector<Value> {
    const double none = std::numeric_limits<double>::quiet_NaN();
    if (i == 0) return {"a,<b>", 1234, 12345.678, 0.8554, 0.5, "best"};
    return {nullptr, 1, none, 1.0, none, ""};
  };
  document.add(std::move(table));
  document.add(Pairs{"Pairs", "", " → ", {{"a", "<b>", 3, 1}}, 3, true, "more"});
  return document;
}

}  // namespace

TEST_CASE("report: one document is text, JSON, CSV and a page") {
  const Document document = document_of_kinds();
  CHECK(text(document) ==
        "first line\n"
        "class  rows     mean   share\n"
        "a,<b>  1234  12345.7  0.8554  best\n"
        "-         1        -  1.0000\n"
        "  a -> <b>: 3\n"
        "  and 2 more\n");
  CHECK(json(document).dump() ==
        "{\"rows\":1234567,\"quiet\":null,\"late\":[1,2],\"list\":[{\"label\":\"a,<b>\",\"rows\":1234,"
        "\"mean\":12345.678},{\"label\":null,\"rows\":1,\"mean\":null}]}");
  CHECK(csv(document) == "label,rows,mean\r\n\"a,<b>\",1234,12345.678\r\n,1,\r\n");
  const std::string html = page(document);
  for (const char* part :
       {"<title>kith: title</title>", "<h1>1 <small>unit</small></h1>",
        "<div><dt>Rows</dt><dd>1,234,567<small>small <b>print</b></small></dd></div>",
        "<div><dt>Loud</dt><dd>n = 2,048</dd></div>", "<section><h2>A part</h2><p class=\"note\">a note</p>",
        "<th scope=\"row\" class=\"name\"><bdi>a,&lt;b&gt;</bdi></th><td class=\"n\">1,234</td><td "
        "class=\"n\">12,346</td><td class=\"n\">85.54 %</td><td class=\"bar\"><span>50.0 %</span>",
        "<td><span class=\"is\">best</span></td>", "<td class=\"bar\"><span>–</span></td><td></td>",
        "<bdi>a</bdi> → <bdi>&lt;b&gt;</bdi></span><span class=\"count\">3</span>"})
    CHECK_MESSAGE(contains(html, part), part);
  CHECK(count(html, "<section>") == count(html, "</section>"));
  for (const char* part : {"quiet</dt>", "first line", "late</dt>"})
    CHECK_MESSAGE(!contains(html, part), part);
}
