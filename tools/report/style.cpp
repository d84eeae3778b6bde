#include "report/parts.hpp"

namespace kith::report {

// --good and --bad are told apart by people who see no red or green, too: one is dark blue-green,
// the other orange. Heat maps mix them into the card's own colour, so both themes need one rule.
const char* const style = R"css(
:root {
  color-scheme: light dark;
  --page: #f5f4f0; --card: #ffffff; --ink: #1c1f24; --quiet: #646a75; --line: #e3e1da;
  --good: #0b7285; --bad: #d9480f; --strong: #ffffff; --track: #eceae4; --code: #f5f4f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #121417; --card: #1b1e23; --ink: #e9eaec; --quiet: #9aa0ab; --line: #2d3138;
    --good: #3bc9db; --bad: #ff922b; --strong: #0d1013; --track: #272b31; --code: #121417;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 64px; }
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
section > p.note { margin: 2px 0 18px; color: var(--quiet); font-size: 14.5px; max-width: 62em; }
.columns { display: flex; flex-wrap: wrap; gap: 32px; align-items: flex-start; }
.columns > .wide { flex: 1 1 560px; min-width: 0; }
.columns > .narrow { flex: 1 1 260px; }
.columns > .half { flex: 1 1 440px; min-width: 0; }
td.stage { width: 190px; }
.scroll { overflow: auto; max-height: 760px; }
svg { display: block; max-width: 100%; height: auto; font: inherit; }
.scroll > svg { min-width: 640px; }
svg text { fill: var(--ink); }
svg text.quiet { fill: var(--quiet); }
svg text.on { fill: var(--strong); }
svg .good { fill: var(--good); } svg .bad { fill: var(--bad); } svg .none { fill: var(--track); }
svg .curve { fill: none; stroke: var(--good); stroke-width: 2.5; stroke-linejoin: round; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .dot { fill: var(--card); stroke: var(--good); stroke-width: 2.5; }
svg .dot.best { fill: var(--good); }
svg .used { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 3 4; }
img.map { width: 100%; image-rendering: pixelated; background: var(--track); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 550; color: var(--quiet); font-size: 13px; }
th, td { padding: 5px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th.n, td.n { text-align: right; }
thead th { position: sticky; top: 0; background: var(--card); z-index: 1; }
tbody tr:last-child td, tfoot td { border-bottom: 0; }
tfoot td { border-top: 2px solid var(--line); color: var(--quiet); }
td.bar { min-width: 130px; }
.bar span { display: inline-block; width: 68px; text-align: right; margin-right: 10px; }
.bar b { display: inline-block; height: 9px; border-radius: 2px; background: var(--good); vertical-align: baseline; }
.bar b.time { background: var(--quiet); }
.is { color: var(--good); font-weight: 600; } .not { color: var(--bad); font-weight: 600; }
ol.pairs { list-style: none; margin: 0; padding: 0; font-size: 14.5px; }
ol.pairs li { padding: 6px 0; border-bottom: 1px solid var(--line); display: grid; grid-template-columns: 1fr auto; gap: 0 12px; }
ol.pairs li:last-child { border-bottom: 0; }
ol.pairs b { grid-column: 1 / 3; height: 4px; border-radius: 2px; background: var(--bad); margin-top: 3px; }
ol.pairs span.count { font-variant-numeric: tabular-nums; font-weight: 550; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(460px, 1fr)); gap: 16px; }
.card { border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; min-width: 0; }
.card p { margin: 0 0 10px; font-size: 14.5px; }
.card p small { color: var(--quiet); }
.card .row { display: flex; gap: 16px; align-items: flex-start; }
.card .many { display: grid; grid-template-columns: repeat(auto-fill, minmax(56px, 1fr)); gap: 10px 8px; flex: 1; border-left: 1px solid var(--line); padding-left: 16px; }
figure { margin: 0; font-size: 12px; line-height: 1.3; min-width: 0; }
figure img { width: 100%; image-rendering: pixelated; border-radius: 4px; display: block; background: #000; }
figure.query { flex: 0 0 104px; }
figcaption { margin-top: 4px; overflow-wrap: anywhere; }
figcaption small { color: var(--quiet); display: block; font-size: 11px; white-space: nowrap; }
.rows .card { margin-top: 14px; }
.rows td.same { color: var(--quiet); opacity: .65; }
.rows tr.query td { font-weight: 600; border-bottom: 2px solid var(--line); }
pre { margin: 0; background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; font: 13.5px/1.55 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { margin-top: 28px; color: var(--quiet); font-size: 13.5px; }
@media (max-width: 640px) {
  main { padding: 20px 12px 40px; } section { padding: 18px 16px; } h1 { font-size: 44px; }
  .cards { grid-template-columns: 1fr; } figure.query { flex-basis: 84px; }
}
@media print { section { break-inside: avoid; } .scroll { max-height: none; } }
)css";

}  // namespace kith::report
