#include "report/charts/palette.hpp"
#include "report/charts/plot.hpp"
#include "report/parts.hpp"

namespace kith::report {
namespace {

const char* const rules = R"css(
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
main, body > footer { max-width: 1120px; margin: 0 auto; padding: 40px 24px 0; }
body > footer { padding: 0 24px 64px; color: var(--quiet); font-size: 13.5px; }
body > footer section { color: var(--ink); } body > footer p { margin: 28px 0 0; }
bdi { overflow-wrap: anywhere; } thead bdi { overflow-wrap: normal; }
header p.kind { margin: 0; color: var(--quiet); font-size: 14px; }
h1 { margin: 4px 0 2px; font-size: 64px; line-height: 1.1; font-weight: 650; letter-spacing: -.02em; }
h1 small { font-size: 24px; font-weight: 450; color: var(--quiet); letter-spacing: 0; }
header p.lead { margin: 0 0 18px; font-size: 19px; max-width: 52em; }
.meter { height: 10px; border-radius: 5px; background: var(--bad); overflow: hidden; display: flex; }
.meter i { background: var(--good); border-right: 3px solid var(--page); }
dl.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(220px, 1fr)); gap: 1px;
  background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden;
  margin: 28px 0 0;
}
dl.facts div { box-shadow: 0 0 0 1px var(--line); padding: 12px 16px; }
dl.facts dt { color: var(--quiet); font-size: 13px; }
dl.facts dd { margin: 0; font-size: 18px; font-weight: 550; overflow-wrap: anywhere; }
dl.facts dd small { display: block; font-size: 13px; font-weight: 400; color: var(--quiet); }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 24px 28px 28px; margin-top: 24px;
}
h2 { margin: 0; font-size: 21px; font-weight: 620; }
h3 { margin: 24px 0 6px; font-size: 15px; font-weight: 620; }
h3.first { margin-top: 0; } h2 + .columns { margin-top: 14px; }
section > p.note { margin: 2px 0 18px; color: var(--quiet); font-size: 14.5px; max-width: 62em; }
.columns { display: flex; flex-wrap: wrap; gap: 32px; align-items: flex-start; }
.columns > .wide { flex: 1 1 560px; min-width: 0; }
.columns > .narrow { flex: 1 1 260px; min-width: 0; }
.columns > .half { flex: 1 1 440px; min-width: 0; }
.scroll {
  overflow: auto; max-height: 760px;
  background: linear-gradient(to right, var(--card) 30%, transparent) left / 40px 100% no-repeat local,
    linear-gradient(to left, var(--card) 30%, transparent) right / 40px 100% no-repeat local,
    linear-gradient(to right, var(--shade), transparent) left / 10px 100% no-repeat scroll,
    linear-gradient(to left, var(--shade), transparent) right / 10px 100% no-repeat scroll;
}
.scroll:focus-visible, summary:focus-visible, a:focus-visible { outline: 2px solid var(--good); outline-offset: 2px; }
svg { display: block; max-width: 100%; height: auto; font: inherit; }
svg text { fill: var(--ink); }
svg text.quiet { fill: var(--quiet); }
svg .good { fill: var(--good); } svg .bad { fill: var(--bad); } svg .none { fill: var(--track); }
.map { max-height: none; }
.map img { width: 100%; image-rendering: pixelated; background: var(--track); border-radius: 4px; display: block; }
details { margin-top: 14px; font-size: 14.5px; }
summary { cursor: pointer; color: var(--quiet); }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; font-variant-numeric: tabular-nums; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
th, td { padding: 5px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; text-align: left; font-weight: 400; }
thead th { font-weight: 550; color: var(--quiet); font-size: 13px; vertical-align: bottom; }
th.n, td.n { text-align: right; }
th.name, td.name { white-space: normal; min-width: 7em; max-width: 24em; }
thead th { position: sticky; top: 0; background: var(--card); z-index: 1; }
tbody tr:last-child > *, tfoot tr > * { border-bottom: 0; }
tfoot tr > * { border-top: 2px solid var(--line); color: var(--quiet); }
.bar { --bar: 70px; }
.bar span { display: inline-block; width: 64px; text-align: right; margin-right: 10px; }
.bar b { display: inline-block; height: 9px; border-radius: 2px; background: var(--good); vertical-align: baseline; }
.bar.time { --bar: 150px; } .bar.time b { background: var(--quiet); }
.is { color: var(--good); font-weight: 600; } .not { color: var(--bad); font-weight: 600; }
ol.pairs { list-style: none; margin: 0; padding: 0; font-size: 14.5px; }
ol.pairs li { padding: 6px 0; border-bottom: 1px solid var(--line); display: grid; grid-template-columns: 1fr auto; gap: 0 12px; }
ol.pairs li:last-child { border-bottom: 0; }
ol.pairs b { grid-column: 1 / 3; height: 4px; border-radius: 2px; background: var(--bad); margin-top: 3px; }
ol.pairs.two { columns: 2; column-gap: 32px; max-width: 800px; } ol.pairs.two li { break-inside: avoid; }
ol.pairs span.count { font-variant-numeric: tabular-nums; font-weight: 550; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(460px, 1fr)); gap: 16px; }
.card { border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; min-width: 0; }
.card h3 { margin: 0 0 10px; font-size: 14.5px; font-weight: 400; }
.card h3 small { color: var(--quiet); font-size: 13px; }
.card .row { display: flex; gap: 16px; align-items: flex-start; }
.card .many { display: grid; grid-template-columns: repeat(auto-fill, minmax(56px, 1fr)); gap: 10px 8px; flex: 1; border-left: 1px solid var(--line); padding-left: 16px; }
figure { margin: 0; font-size: 12px; line-height: 1.3; min-width: 0; }
figure img { width: 100%; image-rendering: pixelated; border-radius: 4px; display: block; background: #000; }
figure.query { flex: 0 0 104px; }
figcaption { margin-top: 4px; overflow-wrap: anywhere; }
figcaption small { color: var(--quiet); display: block; font-size: 11px; }
.rows .card { margin-top: 14px; }
.rows .name { min-width: 10em; }
.rows td.same { color: var(--quiet); }
.rows tr.query > * { font-weight: 600; border-bottom: 2px solid var(--line); }
pre { margin: 0; background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; font: 13.5px/1.55 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  main { padding: 20px 12px 0; } section { padding: 18px 16px; } h1 { font-size: 44px; }
  dl.facts { grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
  ol.pairs.two { columns: 1; } .columns { gap: 24px; } .columns > * { flex-basis: 100% !important; }
  .cards { grid-template-columns: 1fr; } figure.query { flex-basis: 84px; }
  th, td { padding: 5px 6px; } table { font-size: 13px; } thead th { font-size: 12px; white-space: normal; }
  .bar b { display: none; } .bar span { width: auto; margin: 0; } .bar.time b { display: inline-block; } .bar.time span { width: 60px; margin-right: 8px; }
  .bar.time { --bar: 90px; }
}
@page { margin: 14mm 13mm; }
@media print {
  body { font-size: 12.5px; background: #fff; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main, body > footer { max-width: none; padding: 0; }
  body > footer { break-inside: avoid; font-size: 11px; } body > footer p { margin-top: 18px; }
  h1 { font-size: 40px; } h1 small { font-size: 18px; } header p.lead { font-size: 15px; margin-bottom: 12px; }
  h2 { font-size: 17px; } h3 { font-size: 13px; margin-top: 16px; }
  dl.facts { margin-top: 16px; grid-template-columns: repeat(4, 1fr); } dl.facts div { padding: 7px 10px; }
  dl.facts dt, dl.facts dd small { font-size: 10.5px; } dl.facts dd { font-size: 13.5px; line-height: 1.35; }
  section { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding: 14px 0 0; margin-top: 20px; }
  section > p.note { font-size: 12px; margin-bottom: 10px; }
  h1, h2, h3 { break-inside: avoid; } h1, h2, h3, p.note, p.kind, thead { break-after: avoid; }
  tfoot { display: table-row-group; } tbody, tbody tr:first-child { break-before: avoid; }
  tr, li, figure, .card, svg, img, dl.facts, .meter { break-inside: avoid; }
  p { orphans: 3; widows: 3; } p.note { break-inside: avoid; }
  tbody tr:nth-child(-n+2):not(:last-child), tbody tr:nth-last-child(2), tbody:has(+ tfoot) tr:last-child { break-after: avoid; }
  .scroll { overflow: visible; max-height: none; background: none; }
  .columns { gap: 20px; } .columns > .wide { flex: 1 1 420px; } .columns > .narrow { flex: 1 1 180px; } .columns > .half { flex: 1 1 300px; }
  .map svg { min-width: 0 !important; width: auto; max-height: 400px; } .map img { width: min(100%, 500px); } .roomy { display: block; } .roomy .map svg { max-height: 540px; }
  details:not([open]) { display: none; }
  table, ol.pairs { font-size: 11.5px; } thead th { position: static; font-size: 11px; white-space: normal; }
  th, td { padding: 3px 6px; } td:not(.n, .bar), th:not(.n) { white-space: normal; } td:not(.n, .bar):not(:empty) { min-width: 6em; }
  .dense { font-size: 9.5px; } .dense th, .dense td { padding: 3px; } .dense thead th { font-size: 9.5px; } ol.pairs li { padding: 3px 0; }
  .bar { --bar: 44px; } .bar span { width: 48px; margin-right: 6px; } .bar b { height: 7px; } .bar.time { --bar: 90px; } .bar.time span { width: 58px; }
  .cards { grid-template-columns: 1fr 1fr; gap: 10px; } .card { padding: 8px 10px; }
  .card h3 { font-size: 12px; margin-bottom: 6px; } .card h3 small { font-size: 11px; }
  .card .row { gap: 10px; } .card .many { grid-template-columns: repeat(5, 1fr); gap: 5px; padding-left: 8px; }
  figure, .card figcaption { font-size: 8.5px; } figcaption small { font-size: 8px; } figure.query { flex-basis: 58px; }
  .rows .card { margin-top: 8px; } .rows table { font-size: 9.5px; } .rows th, .rows td { padding: 2px 3px; white-space: normal; } .rows thead bdi { overflow-wrap: anywhere; } .rows thead th { font-size: 9.5px; } .rows .name { min-width: 5em; }
  pre { font-size: 10.5px; padding: 8px 10px; }
}
)css";

}  // namespace

std::string style_sheet() {
  return colour_rules() + rules + text_rules + plot_style + chart_style;
}

}  // namespace kith::report
