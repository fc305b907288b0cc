#include "market/market_table.hpp"

#include <string>

#include "market/book_figures.hpp"
#include "report/numbers.hpp"

namespace tranca::bench {
namespace {

using cells = std::vector<std::string>;

std::string times(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 0.095 ? 3 : ratio < 9.95 ? 2 : 0); }

std::string times_lock(const results& measured, const cell_result& one) {
    const auto* lock = find(measured, size_of(one), mode::lock);
    if (lock == nullptr || lock->total.bought == 0) return "-";
    return times(sold_per_second(one) / sold_per_second(*lock));
}

cells book_columns(const cell& setting) {
    const auto book = book_figures(setting.listers, setting.buyers, setting.how);
    const auto lock = book_figures(setting.listers, setting.buyers, mode::lock);
    if (!book || !lock) return {"-", "-", "-", "-", "-"};
    const auto* upper_bound = book->bought.starts_with('<') ? "<" : "";
    return {std::string(book->listed), std::string(book->bought), std::string(book->retries),
            std::string(book->mean_wait),
            fmt::format("{}{}", upper_bound, times(book->bought_per_minute / lock->bought_per_minute))};
}

cells measured_columns(const results& measured, const cell_result& one) {
    const auto& total = one.total;
    // Nobody bought, nobody's wait ended: there is no figure.
    const auto wait = [&](double nanoseconds) { return total.bought == 0 ? "-" : time_text(nanoseconds / 1e3); };
    return {with_commas(total.listed), with_commas(total.bought),      with_commas(total.retries),
            wait(total.wait.mean()),   wait(total.wait.quantile(0.5)), wait(total.wait.quantile(0.99)),
            times_lock(measured, one)};
}

std::vector<column> columns_of(const results& measured) {
    const auto ours = fmt::format("measured, {:.3g} s a cell", measured.empty() ? 0.0 : measured.front().seconds);
    const std::string book = "the book, 60 s a cell";
    return {{"listers/buyers", true, ""}, {"mode", true, ""},         {"listed", false, ours}, {"bought", false, ours},
            {"retries", false, ours},     {"mean wait", false, ours}, {"p50", false, ours},    {"p99", false, ours},
            {"x lock", false, ours},      {"listed", false, book},    {"bought", false, book}, {"retries", false, book},
            {"mean wait", false, book},   {"x lock", false, book}};
}

}  // namespace

nlohmann::json market_row(const cell_result& measured) {
    const auto& total = measured.total;
    const auto wait = [&](double nanoseconds) -> nlohmann::json {
        return total.bought == 0 ? nlohmann::json() : nlohmann::json(nanoseconds / 1e3);
    };
    return {{"listers", measured.setting.listers},
            {"buyers", measured.setting.buyers},
            {"mode", name_of(measured.setting.how)},
            {"primitive", primitive_of(measured.setting.how)},
            {"seconds", measured.seconds},
            {"listed", total.listed},
            {"bought", total.bought},
            {"retries", total.retries},
            {"wait_us_mean", wait(total.wait.mean())},
            {"wait_us_p50", wait(total.wait.quantile(0.5))},
            {"wait_us_p99", wait(total.wait.quantile(0.99))}};
}

table market_table(const results& measured) {
    table made{"Marketplace", columns_of(measured), {}, {}};
    const cell_result* before = nullptr;
    for (const auto& one : measured) {
        if (before != nullptr && size_of(*before) != size_of(one)) made.rows.emplace_back();
        cells row{name_of(size_of(one)), std::string(name_of(one.setting.how))};
        for (auto& text : measured_columns(measured, one))
            row.push_back(std::move(text));
        for (auto& text : book_columns(one.setting))
            row.push_back(std::move(text));
        made.rows.push_back(std::move(row));
        before = &one;
    }
    return made;
}

}  // namespace tranca::bench
