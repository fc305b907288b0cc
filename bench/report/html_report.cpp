#include "report/html_report.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "report/gnuplot.hpp"
#include "report/gnuplot_script.hpp"

namespace tranca::bench {
namespace {

constexpr const char* style = R"css(
body { font: 15px/1.5 sans-serif; color: #222; max-width: 1320px; margin: 2em auto; padding: 0 1.5em; }
h1 { margin-bottom: 0; } h2 { margin-top: 2em; border-bottom: 2px solid #0072b2; } h3 { margin: 1em 0 0; }
.facts, .caption, .notes { color: #666; font-size: 13px; margin: .2em 0; }
.claim { padding: .4em .8em; margin: .4em 0; border-left: 6px solid #009e73; background: #eef8f4; }
.claim.missed { border-color: #b00020; background: #fdeef0; } .claim b { margin-right: .6em; }
.row { display: flex; flex-wrap: wrap; gap: 1.5em; } .row > figure { flex: 1 1 520px; } figure { margin: 0; }
svg { width: 100%; height: auto; } .wide { max-width: 1000px; } .alone { max-width: 700px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25em .7em; text-align: right; white-space: nowrap; } td.text, th.text { text-align: left; }
thead { border-bottom: 2px solid #888; } thead tr.groups th { text-align: center; color: #666; font-weight: normal; }
tbody tr:nth-child(even) { background: #f6f6f6; } td.first, th.first { border-left: 1px solid #bbb; }
tr.next td { border-top: 1px solid #888; }
)css";

std::string escaped(const std::string& text) {
    std::string made;
    for (const char c : text) {
        switch (c) {
        case '&': made += "&amp;"; break;
        case '<': made += "&lt;"; break;
        case '>': made += "&gt;"; break;
        case '"': made += "&quot;"; break;
        default: made += c;
        }
    }
    return made;
}

std::string html_of(const claim& one) {
    return fmt::format("<div class='claim{}'><b>{}</b>{}: {}</div>\n", one.holds ? "" : " missed",
                       one.holds ? "ok" : "MISSED", escaped(one.text), escaped(one.figures));
}

// The picture without the XML prologue, which may stand only at the beginning of a file.
std::string picture(const plot& shown) {
    const auto svg = run_gnuplot(gnuplot_script(shown));
    const auto begin = svg ? svg->find("<svg") : std::string::npos;
    return begin == std::string::npos ? "<p>(no picture: gnuplot is not installed)</p>" : svg->substr(begin);
}

std::string html_of(const plot& shown) {
    const auto* width = shown.kind == plot::form::dots ? "wide" : shown.partner.empty() ? "alone" : "";
    return fmt::format("<figure class='{}'><h3>{}</h3><p class='caption'>{}</p>\n{}</figure>\n", width,
                       escaped(shown.title), escaped(shown.caption), picture(shown));
}

std::string html_of(const std::vector<plot>& plots) {
    std::string made;
    for (std::size_t i = 0; i < plots.size();) {
        const auto& partner = plots[i].partner;
        made += "<div class='row'>\n" + html_of(plots[i]);
        for (++i; i < plots.size() && !partner.empty() && plots[i].partner == partner; ++i)
            made += html_of(plots[i]);
        made += "</div>\n";
    }
    return made;
}

bool opens_group(const table& shown, std::size_t i) {
    return i > 0 && shown.columns[i].group != shown.columns[i - 1].group;
}

std::string classes(const table& shown, std::size_t i) {
    return fmt::format("{}{}", shown.columns[i].text ? "text" : "", opens_group(shown, i) ? " first" : "");
}

std::string groups_of(const table& shown) {
    std::string made;
    bool any = false;
    for (std::size_t i = 0; i < shown.columns.size();) {
        const auto first = i;
        for (++i; i < shown.columns.size() && !opens_group(shown, i); ++i) {
        }
        made += fmt::format("<th colspan='{}'>{}</th>", i - first, escaped(shown.columns[first].group));
        any = any || !shown.columns[first].group.empty();
    }
    return any ? "<tr class='groups'>" + made + "</tr>\n" : "";
}

std::string html_of(const table& shown) {
    std::string made = "<div class='scroll'><table>\n<thead>" + groups_of(shown) + "<tr>";
    for (std::size_t i = 0; i < shown.columns.size(); ++i) {
        made += fmt::format("<th class='{}'>{}</th>", classes(shown, i), escaped(shown.columns[i].name));
    }
    made += "</tr></thead>\n<tbody>\n";
    bool after_line = false;
    for (const auto& row : shown.rows) {
        if (row.empty()) {
            after_line = true;
            continue;
        }
        made += after_line ? "<tr class='next'>" : "<tr>";
        after_line = false;
        for (std::size_t i = 0; i < row.size(); ++i) {
            made += fmt::format("<td class='{}'>{}</td>", classes(shown, i), escaped(row[i]));
        }
        made += "</tr>\n";
    }
    made += "</tbody></table></div>\n";
    for (const auto& note : shown.notes)
        made += fmt::format("<p class='notes'>{}</p>\n", escaped(note));
    return made;
}

std::string html_of(const findings& section) {
    std::string made;
    for (const auto& one : section.failures) {
        made += fmt::format("<div class='claim missed'><b>FAILED</b>{}</div>\n", escaped(one));
    }
    for (const auto& one : section.tables)
        made += fmt::format("<h2>{}</h2>\n", escaped(one.title));
    made += html_of(section.plots);
    for (const auto& one : section.tables)
        made += html_of(one);
    return made;
}

}  // namespace

std::string as_html(const run_facts& facts, const std::vector<findings>& all) {
    std::string made = fmt::format(
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
        "content='width=device-width'>\n"
        "<title>tranca {0}: benchmark</title><style>{1}</style></head><body>\n<h1>tranca {0}: benchmark</h1>\n"
        "<p class='facts'>{2}. {3}. {4}. {5} pace{6}, {7}; load before the run {8:.1f}.</p>\n",
        escaped(facts.version), style, escaped(facts.redis), escaped(facts.processor), escaped(facts.compiler),
        facts.pace, facts.interrupted ? ", interrupted" : "", facts.date, facts.load);
    for (const auto& section : all) {
        for (const auto& one : section.claims)
            made += html_of(one);
    }
    for (const auto& section : all)
        made += html_of(section);
    return made + "</body></html>\n";
}

}  // namespace tranca::bench
