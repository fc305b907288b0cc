#include "report/text_report.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace tranca::bench {
namespace {

constexpr std::size_t gap = 2;

std::vector<std::size_t> widths_of(const table& shown) {
    std::vector<std::size_t> widths;
    for (const auto& head : shown.columns)
        widths.push_back(head.name.size());
    for (const auto& row : shown.rows) {
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    return widths;
}

// A column that opens a group stands a little apart from the one before.
std::string before(const table& shown, std::size_t i) {
    if (i == 0) return "";
    return shown.columns[i].group == shown.columns[i - 1].group ? std::string(gap, ' ') : " | ";
}

std::string line(const table& shown, const std::vector<std::size_t>& widths, const std::vector<std::string>& texts) {
    std::string made;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        made += before(shown, i);
        made += shown.columns[i].text ? fmt::format("{:<{}}", texts[i], widths[i])
                                      : fmt::format("{:>{}}", texts[i], widths[i]);
    }
    return made + "\n";
}

// The groups' headings, each centred over its columns; empty if there are none.
std::string group_line(const table& shown, const std::vector<std::size_t>& widths) {
    std::string made;
    bool any = false;
    for (std::size_t i = 0; i < widths.size();) {
        const auto& group = shown.columns[i].group;
        std::size_t width = widths[i];
        made += before(shown, i);
        for (++i; i < widths.size() && shown.columns[i].group == group; ++i)
            width += gap + widths[i];
        made += fmt::format("{:^{}}", group, width);
        any = any || !group.empty();
    }
    return any ? made + "\n" : "";
}

std::string ruler(const table& shown, const std::vector<std::size_t>& widths) {
    std::string made;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const auto space = before(shown, i);
        made += space == " | " ? "-+-" : std::string(space.size(), '-');
        made += std::string(widths[i], '-');
    }
    return made + "\n";
}

}  // namespace

std::string as_text(const table& shown) {
    const auto widths = widths_of(shown);
    std::vector<std::string> heads;
    for (const auto& head : shown.columns)
        heads.push_back(head.name);
    auto made = shown.title + "\n\n" + group_line(shown, widths) + line(shown, widths, heads) + ruler(shown, widths);
    for (const auto& row : shown.rows)
        made += row.empty() ? ruler(shown, widths) : line(shown, widths, row);
    for (const auto& note : shown.notes)
        made += "  " + note + "\n";
    return made;
}

std::string as_text(const claim& checked) {
    return fmt::format("{:<6}  {}: {}\n", checked.holds ? "ok" : "MISSED", checked.text, checked.figures);
}

}  // namespace tranca::bench
