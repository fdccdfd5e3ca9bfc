"""The style of the replay's page, light and dark."""

STYLE = """
:root{--bg:#f6f7f9;--card:#fff;--ink:#1c2430;--dim:#667085;--line:#dfe3ea;--good:#1a7f4b;
--bad:#c0362c;--warn:#b26a00;--clean:#7f9fbe;--resolved:#2f9e69;--conflict:#d9594c;
--broken:#8e44ad;--same:#2f9e69;--order:#e3b23c;--different:#e0803a;--unknown:#aab2bd;
--del:#fde8e6;--add:#e3f5ea;--gap:#eef1f5}
@media (prefers-color-scheme:dark){:root{--bg:#12161c;--card:#1b2129;--ink:#e4e8ee;--dim:#98a2b3;
--line:#303844;--good:#4cc38a;--bad:#f0776b;--warn:#e6a23c;--clean:#4d6f91;--resolved:#2f9e69;
--del:#4a2422;--add:#1d3d2b;--gap:#232b36}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:40px 24px 64px}
h1{margin:0;font-size:30px;line-height:1.2;overflow-wrap:anywhere}
h2{margin:0 0 12px;font-size:19px}
h2 span{margin-left:6px;padding:1px 9px;border-radius:10px;background:var(--gap);
font-size:14px;font-weight:500;color:var(--dim)}
.lead{margin:8px 0 28px;color:var(--dim)}
code{font:13px/1.4 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
.cards{display:grid;grid-template-columns:repeat(3,1fr);gap:14px;margin:0 0 28px;padding:0;
list-style:none}
.cards li{padding:16px 18px;background:var(--card);border:1px solid var(--line);
border-radius:10px;color:var(--dim)}
.cards b{display:block;color:var(--ink);font-size:30px;line-height:1.15;font-weight:650}
.cards .good b{color:var(--good)}.cards .bad b{color:var(--bad)}.cards .warn b{color:var(--warn)}
section{margin:0 0 28px;padding:20px 22px;background:var(--card);border:1px solid var(--line);
border-radius:10px}
figure{margin:0 0 22px}figure:last-child{margin:0}
figcaption{margin:0 0 10px;color:var(--dim)}
svg{display:block;width:100%;height:auto}
svg .name{fill:var(--ink);font-size:15px;font-weight:600}
svg .count{fill:#fff;font-size:14px;font-weight:600;text-anchor:middle}
.t-clean{fill:var(--clean);background:var(--clean)}
.t-resolved{fill:var(--resolved);background:var(--resolved)}
.t-conflict{fill:var(--conflict);background:var(--conflict)}
.t-broken{fill:var(--broken);background:var(--broken)}
.t-same{fill:var(--same);background:var(--same)}
.t-order{fill:var(--order);background:var(--order)}
.t-different{fill:var(--different);background:var(--different)}
.t-unknown{fill:var(--unknown);background:var(--unknown)}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:10px 0 0 90px;padding:0;list-style:none;
color:var(--dim);font-size:13.5px}
.legend i{display:inline-block;width:11px;height:11px;margin-right:6px;border-radius:3px}
.case{margin:12px 0 0;border:1px solid var(--line);border-radius:8px;overflow:hidden}
summary{cursor:pointer}
.case>summary{padding:9px 14px;background:var(--gap);overflow-wrap:anywhere}
.case>p{margin:10px 14px}
.case small{display:block;margin-left:0;color:var(--dim)}
.number{margin-right:8px;padding:1px 8px;border-radius:9px;background:var(--card);
font-size:13px}
.flag{padding:1px 7px;border-radius:9px;background:var(--order);color:#222;font-size:12px}
.sides{margin:10px 14px 12px;color:var(--dim)}
.sides .scroll{margin:8px 0 0;border:1px solid var(--line)}
.scroll{overflow-x:auto}
.diff{width:100%;border-collapse:collapse;table-layout:fixed;color:var(--ink);
font:12.5px/1.55 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
.diff col.n{width:46px}
.diff th{padding:5px 10px;border-top:1px solid var(--line);border-bottom:1px solid var(--line);
text-align:left;font-weight:600;color:var(--dim)}
.diff td{padding:0 10px;white-space:pre-wrap;overflow-wrap:anywhere;vertical-align:top}
.diff td.n{padding:0 8px 0 0;text-align:right;color:var(--dim);user-select:none}
.diff td:nth-child(3),.diff th:nth-child(2){border-left:1px solid var(--line)}
.changed td:nth-child(-n+2),.left td:nth-child(-n+2){background:var(--del)}
.changed td:nth-child(n+3),.right td:nth-child(n+3){background:var(--add)}
.left td:nth-child(n+3),.right td:nth-child(-n+2){background:var(--gap)}
.gap td{background:var(--gap);text-align:center;color:var(--dim)}
.list{width:100%;border-collapse:collapse}
.list td{padding:5px 14px 5px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
pre{margin:12px 0 0;padding:10px 14px;background:var(--gap);border-radius:8px;overflow-x:auto}
.none,.note{color:var(--dim)}.note{padding:0 14px}
footer{color:var(--dim);font-size:13px}
@media (max-width:760px){.cards{grid-template-columns:repeat(2,1fr)}}
"""
