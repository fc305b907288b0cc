#pragma once

// Tables 6.1 to 6.3 of "Redis in Action": 60 s a cell, the author's machine, Python clients. Figures to compare shapes
// with, not speed. The strings are as printed there; `bought_per_minute` is the number in them, upper bounds as such.

#include <array>
#include <optional>
#include <string_view>

#include "market/mode.hpp"

namespace tranca::bench {

struct book_row {
    int listers;
    int buyers;
    mode how;
    std::string_view listed;
    std::string_view bought;
    std::string_view retries;
    std::string_view mean_wait;
    double bought_per_minute;
};

inline constexpr std::array book_rows{
    book_row{1, 1, mode::watch, "145,000", "27,000", "80,000", "14 ms", 27'000},
    book_row{1, 1, mode::lock, "51,000", "50,000", "0", "1 ms", 50'000},
    book_row{1, 1, mode::fine, "113,000", "110,000", "0", "<1 ms", 110'000},
    book_row{5, 1, mode::watch, "331,000", "<200", "50,000", "150 ms", 200},
    book_row{5, 1, mode::lock, "68,000", "13,000", "<10", "5 ms", 13'000},
    book_row{5, 1, mode::fine, "192,000", "36,000", "0", "<2 ms", 36'000},
    book_row{5, 5, mode::watch, "206,000", "<600", "161,000", "498 ms", 600},
    book_row{5, 5, mode::lock, "21,000", "20,500", "0", "14 ms", 20'500},
    book_row{5, 5, mode::fine, "116,000", "111,000", "0", "<3 ms", 111'000},
};

constexpr std::optional<book_row> book_figures(int listers, int buyers, mode how) noexcept {
    for (const auto& row : book_rows) {
        if (row.listers == listers && row.buyers == buyers && row.how == how) return row;
    }
    return std::nullopt;
}

}  // namespace tranca::bench
