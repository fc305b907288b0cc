#include "sections/section.hpp"

#include <map>
#include <utility>

namespace tranca::bench {
namespace {

// A function, because the objects that enlist themselves are made in no particular order.
std::multimap<int, std::shared_ptr<section>>& book() {
    static std::multimap<int, std::shared_ptr<section>> sections;
    return sections;
}

}  // namespace

std::vector<std::shared_ptr<section>> all_sections() {
    std::vector<std::shared_ptr<section>> in_order;
    for (const auto& [rank, part] : book())
        in_order.push_back(part);
    return in_order;
}

void enlist(int rank, std::shared_ptr<section> part) { book().emplace(rank, std::move(part)); }

}  // namespace tranca::bench
