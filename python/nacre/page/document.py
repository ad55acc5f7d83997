"""The HTML of a page: self-contained, with the tables of all charts, so that it can be read without its script too."""

from __future__ import annotations

import json
import os
import sys
from html import escape
from pathlib import Path

from nacre.errors import UserError
from nacre.findings import NO_FINDING, Finding
from nacre.jobs import Job
from nacre.page import access_charts, resource_charts, time_charts
from nacre.page.chart import Chart
from nacre.predictions import misfit_of
from nacre.text import amount, duration, plural, shortened

FILES_SHOWN = 40  # groups
STYLE = """:root{color-scheme:light dark;--text:#1c1f23;--soft:#5b6470;--back:#fff;--card:#f6f7f9;--line:#d5dae1;
--mark:#0072b2}
@media (prefers-color-scheme:dark){:root{--text:#e2e5ea;--soft:#9aa4b1;--back:#14171b;--card:#1c2026;
--line:#363d47;--mark:#56b4e9}}
*{box-sizing:border-box}
body{color:var(--text);background:var(--back);font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;
padding:1.5rem}
h1{font-size:1.3rem;line-height:1.3;margin:0;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2.2rem 0 .6rem}
h3{font-size:1rem;margin:0}
p{margin:.3rem 0}
.soft,figcaption p{color:var(--soft)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.4rem,1fr));gap:.8rem;margin:1.2rem 0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:.6rem .7rem}
.tiles b{display:block;font-size:1.15rem;white-space:nowrap;font-variant-numeric:tabular-nums}
.tiles span{color:var(--soft);font-size:.85rem}
.finding{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--mark);border-radius:.4rem;
padding:.7rem 1rem;margin:.7rem 0;break-inside:avoid}
.finding p{overflow-wrap:anywhere}
.finding .stake{float:right;margin-left:1rem;font-variant-numeric:tabular-nums}
pre{background:var(--back);border:1px solid var(--line);border-radius:.3rem;padding:.4rem .6rem;margin:.4rem 0 0;
white-space:pre-wrap;overflow-wrap:anywhere;font-size:.87rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem}
figure{margin:0;border:1px solid var(--line);border-radius:.4rem;padding:.8rem 1rem;min-width:0;break-inside:avoid}
figure.full{grid-column:1/-1}
.chart{width:100%;overflow-x:auto}
.chart svg{color:var(--text);max-width:100%}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.87rem;width:100%}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line);vertical-align:top}
th:first-child,td:first-child,td.words,th.words{text-align:left;padding-left:0}
td{white-space:nowrap}
td.words{min-width:14rem;white-space:normal}
td:first-child{white-space:pre}
td.words:first-child{white-space:pre-wrap}
summary{cursor:pointer;color:var(--mark)}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1.5rem}
@media (min-width:128rem){body{max-width:152rem}.findings{display:grid;grid-template-columns:1fr 1fr;gap:.2rem 1rem;
align-items:start}figure.full{grid-column:span 2}.pair .findings{display:block}.pair figure.full{grid-column:1/-1}}
@media (max-width:50rem){.pair{grid-template-columns:1fr}body{padding:1rem}}
@media print{:root{--text:#000;--soft:#444;--back:#fff;--card:#fff;--line:#999;--mark:#000;color-scheme:light}
body{max-width:none;padding:0;font-size:10pt}.charts{grid-template-columns:1fr}}
"""
# Draws each chart in the colours of the page. On paper all tables are unfolded.
SCRIPT = """
const config={background:'transparent',view:{stroke:null},font:'system-ui,sans-serif',
axis:{labelColor:'currentColor',titleColor:'currentColor',domainColor:'currentColor',tickColor:'currentColor',
gridColor:'currentColor',gridOpacity:.12,domainOpacity:.4,tickOpacity:.4,titleFontWeight:'normal'},
legend:{labelColor:'currentColor',titleColor:'currentColor',labelLimit:220}};
const charts=JSON.parse(document.getElementById('charts').textContent);
// The longest label of an axis or legend of categories, in characters of about 5.2 pixels.
const longest=(of,values)=>Math.max(0,...(of.scale?.domain??values.map(one=>one[of.field])).map(one=>`${one}`.length));
const draw=([id,spec])=>{const at=document.getElementById(id),{color,y}=spec.encoding,values=spec.data.values;
if(color?.legend){const left=y.type=='nominal'?30+5.2*longest(y,values):45;
color.legend.columns=Math.max(1,Math.floor((at.clientWidth-left)/(24+5.2*longest(color,values))))}
return vegaEmbed(at,{...spec,config,width:'container',autosize:{type:'fit-x',contains:'padding'}},
{renderer:'svg',actions:false})};
Promise.all(Object.entries(charts).map(draw)).then(()=>{
document.body.dataset.drawn=Object.keys(charts).length;document.body.dataset.milliseconds=Math.round(performance.now())});
addEventListener('beforeprint',()=>document.querySelectorAll('details').forEach(one=>one.open=true));
"""
WIDE = {"timeline", "ranks", "communicators", "plans", "layout-0", "layout-1", "layout-2"} | {
    drawing.name for drawing in resource_charts.DRAWINGS
}


def write(path: str, html: str) -> None:
    try:
        Path(path).write_text(html, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}", "Name another file with --html.") from error


def check_writable(path: str) -> None:
    """Refuses a page that could not be written, before the work for it."""
    library()
    place = Path(path) if Path(path).exists() else Path(path).parent
    if Path(path).is_dir() or not os.access(place, os.W_OK):
        raise UserError(f"cannot write {path}", "Name another file with --html, in a folder that you may write to.")


def library() -> str:
    """The script that draws."""
    try:
        import vl_convert
    except ImportError as error:
        raise UserError(
            "--html needs the package vl-convert-python, which is not installed",
            f"Install it: {sys.executable} -m pip install vl-convert-python",
        ) from error
    return vl_convert.javascript_bundle()


def of_job(job: Job, findings: list[Finding], top: int | None = None) -> str:
    """The page of `nacre report --html`, with at most `top` findings and groups of files."""
    charts = [*time_charts.charts(job), *access_charts.charts(job)]
    parts = [
        *_heading(job),
        "<h2>What to change</h2>",
        *_findings(job, findings[:top]),
        "<h2>Where the time went</h2>",
        *_figures(charts, ""),
        "<h2>Files</h2>",
        _files(job, top or FILES_SHOWN),
    ]
    return _document(job.title, parts, {chart.name: chart for chart in charts})


def of_pair(first: Job, second: Job, findings: tuple[list[Finding], list[Finding]], rows: list[list[str]]) -> str:
    """The page of `nacre compare --html`. `rows`: the figures of both jobs, with their quotients."""
    drawn: dict[str, Chart] = {}
    columns: list[list[str]] = []
    for letter, job, found in (("A", first, findings[0]), ("B", second, findings[1])):
        charts = [*time_charts.charts(job), *access_charts.charts(job)]
        drawn |= {f"{letter}-{chart.name}": chart for chart in charts}
        heading = [f'<p class="soft">{letter}</p>', *_heading(job), "<h2>What to change</h2>", *_findings(job, found)]
        columns.append([*heading, "<h2>Where the time went</h2>", *_figures(charts, f"{letter}-")])
    parts = [
        "<h1>Two jobs</h1>",
        f"<details open><summary>Figures</summary>{_table(['', 'A', 'B', 'B/A'], rows)}</details>",
        f'<div class="pair"><section>{"".join(columns[0])}</section><section>{"".join(columns[1])}</section></div>',
    ]
    return _document(f"{first.title} and {second.title}", parts, drawn)


def of_simulation(
    lines: list[str], settings: list[str], rows: list[list[str]], jobs: list[tuple[dict, Job | None]]
) -> str:
    """The page of `nacre simulate --html`. `lines`: the job and notes on it; `rows`: of the table, with a column for
    each setting; `jobs`: what nacre-simulate printed for each setting, and the job's report."""
    title, *notes = lines
    drawn: dict[str, Chart] = {}
    parts = [f"<h1>{escape(title)}</h1>", *(f'<p class="soft">{escape(note)}</p>' for note in notes)]
    parts += ["<h2>Settings</h2>", _table(["", *settings], rows)]
    for number, (name, (outcome, job)) in enumerate(zip(settings, jobs)):
        charts = resource_charts.charts(outcome)
        charts += [*time_charts.charts(job), *access_charts.charts(job)] if job is not None else []
        drawn |= {f"{number}-{chart.name}": chart for chart in charts}
        parts += [f"<h2>{escape(name)}</h2>", *_figures(charts, f"{number}-")]
    return _document(title, parts, drawn)


def _heading(job: Job) -> list[str]:
    elapsed = job.elapsed_seconds
    tiles = [
        *([(duration(elapsed), "from the first open to the last close")] if elapsed else []),
        (duration(job.mean_seconds), f"in {job.what}, mean of the ranks"),
        (duration(job.slowest_seconds), "slowest rank, at most"),
        (amount(job.total("bytes_written")), "written"),
        (amount(job.total("bytes_read")), "read"),
        (f"{job.file_count:,}", "files"),
        (f"{job.opens:,}", "opens"),
    ]
    return [
        f"<h1>{escape(job.title)}</h1>",
        f'<p class="soft">{escape(job.libraries)}</p>',
        '<div class="tiles">'
        + "".join(f"<div><b>{escape(value)}</b><span>{escape(words)}</span></div>" for value, words in tiles)
        + "</div>",
    ]


def _findings(job: Job, findings: list[Finding]) -> list[str]:
    if not findings:
        sentence, _, command = misfit_of(job).partition("\n")
        if sentence:
            return [f"<p>{escape(sentence)}</p>", f"<pre>{escape(command)}</pre>"]
        return [f"<p>{NO_FINDING}</p>"]
    parts = []
    for finding in findings:
        stake = f'<span class="stake">{finding.stake_in_words}</span>' if finding.at_stake else ""
        remedy = "\n".join(finding.remedy)
        parts.append(
            f'<div class="finding" data-rule="{escape(finding.rule)}">{stake}'
            f"<h3>{finding.number}. {escape(finding.title)}</h3>"
            f"<p>{escape(finding.where)}: {escape(finding.evidence)}</p>"
            + (f"<p>{escape(finding.causes_in_words)}</p>" if finding.causes else "")
            + (f"<pre>{escape(remedy)}</pre>" if remedy else "")
            + "</div>"
        )
    return ['<div class="findings">', *parts, "</div>"]


def _figures(charts: list[Chart], prefix: str) -> list[str]:
    return ['<div class="charts">', *(_figure(chart, prefix) for chart in charts), "</div>"]


def _figure(chart: Chart, prefix: str) -> str:
    name = f"{prefix}{chart.name}"
    table = _table(chart.columns, chart.rows)
    if chart.spec:
        drawing = f'<div class="chart" id="{name}" role="img" aria-label="{escape(chart.title)}"></div>'
        table = f"{drawing}<details><summary>Table</summary>{table}</details>"
    wide = ' class="full"' if chart.name in WIDE else ""
    caption = f"<figcaption><h3>{escape(chart.title)}</h3><p>{escape(chart.caption)}</p></figcaption>"
    return f'<figure{wide} data-chart="{name}">{caption}{table}</figure>'


def _files(job: Job, top: int) -> str:
    rows = [
        [str(group), f"{group.opens:,}", f"{group.ranks:,}", f"{group.total('calls'):,}",
         amount(group.total("bytes_written")), amount(group.total("bytes_read")),
         duration(group.rank_seconds / job.ranks)]
        for group in job.groups[:top]
    ]  # fmt: skip
    table = _table(["File", "Opens", "Ranks", "Calls", "Written", "Read", "Time per rank"], rows)
    left = len(job.groups) - len(rows)
    return table + (f"<p>{plural(left, 'more group')} of files.</p>" if left > 0 else "")


def _table(columns: list[str], rows: list[list[str]]) -> str:
    words = {at for row in rows for at, cell in enumerate(row) if _is_words(cell)}
    head = "".join(f"<th{_words(at in words)}>{escape(column)}</th>" for at, column in enumerate(columns))
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _cell(text: str) -> str:
    return f"<td{_words(_is_words(text))}>{escape(text)}</td>"


def _is_words(text: str) -> bool:
    return len(text) > 40


def _words(are: bool) -> str:
    return ' class="words"' if are else ""


def _document(title: str, parts: list[str], charts: dict[str, Chart]) -> str:
    specs = {
        name: {**chart.spec, "height": chart.height,
               "data": {"values": chart.data}}
        for name, chart in charts.items() if chart.spec
    }  # fmt: skip
    # "</" would end the script that holds the data.
    data = json.dumps(specs, separators=(",", ":")).replace("</", "<\\/")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(shortened(title, 120))}: nacre</title>"
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{STYLE}</style></head><body>\n"
        + "\n".join(parts)
        + f'\n<script type="application/json" id="charts">{data}</script>\n'
        f'<script type="module">{library()}</script>\n<script type="module">{SCRIPT}</script>\n</body></html>\n'
    )
