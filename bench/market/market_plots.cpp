#include "market/market_plots.hpp"

#include "market/book_figures.hpp"

namespace tranca::bench {
namespace {

constexpr const char* side_by_side = "sold";

std::vector<std::string> labels_of(const results& measured) {
    std::vector<std::string> labels;
    for (const auto& size : sizes_of(measured))
        labels.push_back(name_of(size) + " listers/buyers");
    return labels;
}

plot sold_here(const results& measured) {
    plot made{"Purchases per second, measured",
              "Longer is better. What the book found: WATCH collapses when listers are added, one lock for the market "
              "keeps selling, a lock an item sells several times as much. script is the floor.",
              "purchases per second",
              plot::form::bars,
              false,
              labels_of(measured),
              {},
              {},
              side_by_side};
    for (const mode how : all_modes) {
        series one{std::string(name_of(how)), {}, {}};
        for (const auto& size : sizes_of(measured)) {
            const auto* cell = find(measured, size, how);
            one.y.push_back(cell == nullptr ? 0.0 : sold_per_second(*cell));
        }
        made.data.push_back(std::move(one));
    }
    return made;
}

plot sold_in_the_book(const results& measured) {
    plot made{"Purchases per second, the book",
              "Tables 6.1 to 6.3 divided by their 60 s: another machine and another language, the same shape.",
              "purchases per second",
              plot::form::bars,
              false,
              labels_of(measured),
              {},
              {},
              side_by_side};
    for (const mode how : {mode::watch, mode::lock, mode::fine}) {
        series one{std::string(name_of(how)), {}, {}};
        for (const auto& [listers, buyers] : sizes_of(measured)) {
            const auto row = book_figures(listers, buyers, how);
            one.y.push_back(row ? row->bought_per_minute / 60 : 0.0);
        }
        made.data.push_back(std::move(one));
    }
    return made;
}

plot waits(const results& measured) {
    plot made{"Wait per purchase, from wanting an item to owning it",
              "Further left is better. The distance from the median to the 99th percentile is how unevenly waiting is "
              "shared: buyers that poll for one lock are either at once lucky or unlucky for long.",
              "wait",
              plot::form::dots,
              true,
              {},
              {{"median", {}, {}}, {"mean", {}, {}}, {"99th percentile", {}, {}}},
              {},
              ""};
    for (const auto& one : measured) {
        if (one.total.bought == 0) continue;
        made.labels.push_back(fmt::format("{} {}", name_of(size_of(one)), name_of(one.setting.how)));
        made.data[0].y.push_back(one.total.wait.quantile(0.5) / 1e9);
        made.data[1].y.push_back(one.total.wait.mean() / 1e9);
        made.data[2].y.push_back(one.total.wait.quantile(0.99) / 1e9);
    }
    return made;
}

}  // namespace

std::vector<plot> market_plots(const results& measured) {
    if (measured.empty()) return {};
    return {sold_here(measured), sold_in_the_book(measured), waits(measured)};
}

}  // namespace tranca::bench
