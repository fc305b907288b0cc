#include "interleave/diagram.hpp"

#include <algorithm>

namespace tranca::interleave {

namespace {

constexpr std::size_t widest_column = 40;

std::string padded(std::string_view what, std::size_t width) {
    std::string made{what};
    made.resize(std::max(width, made.size()), ' ');
    return made;
}

// So many characters at most, broken at a space if there is one.
std::vector<std::string> wrapped(std::string what, std::size_t width) {
    std::vector<std::string> pieces;
    while (what.size() > width) {
        auto cut = what.rfind(' ', width);
        if (cut == std::string::npos || cut < width / 2) cut = width;
        pieces.push_back(what.substr(0, cut));
        what = "  " + what.substr(what[cut] == ' ' ? cut + 1 : cut);
    }
    pieces.push_back(what);
    return pieces;
}

}  // namespace

std::string diagram::text() const {
    std::vector<std::size_t> widths(clients_ + 1, 3);
    for (const auto& each : lines_)
        widths[each.column] = std::clamp(each.what.size(), widths[each.column], widest_column);
    std::string made;
    for (std::size_t column = 0; column < clients_; ++column)
        made += "  " + padded(std::string(1, static_cast<char>('A' + column)), widths[column]);
    made += "\n";
    for (const auto& each : lines_) {
        std::size_t before = 0;
        for (std::size_t column = 0; column < each.column; ++column)
            before += widths[column] + 2;
        const auto width = each.column < clients_ ? widths[each.column] : widest_column;
        for (const auto& piece : wrapped(each.what, width))
            made += std::string(before + 2, ' ') + piece + "\n";
    }
    return made;
}

}  // namespace tranca::interleave
