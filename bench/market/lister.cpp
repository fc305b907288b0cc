#include "market/lister.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tranca::bench {
namespace {

constexpr std::uint64_t batch = 500;  // large enough that making items costs next to nothing per listing

}  // namespace

void lister::work(const baton& signs) {
    while (!signs.stopped()) {
        if (next_ == book_.made) make_batch();
        const item piece{next_, user_};
        const auto result = market_.list(piece.name(), user_, 1 + static_cast<int>(next_ % 100));
        if (result == outcome::gone) throw std::runtime_error("an item vanished from its maker's inventory");
        if (result == outcome::retry) continue;
        ++next_;
        ++book_.listed;
    }
}

void lister::make_batch() {
    std::vector<std::string> words{"SADD", keys_.inventory(user_)};
    for (std::uint64_t i = 0; i < batch; ++i)
        words.push_back(item{book_.made + i, user_}.name());
    const std::vector<std::string_view> views(words.begin(), words.end());
    redis_.append(request{}.add_all(views));
    redis_.next();
    book_.made += batch;
}

}  // namespace tranca::bench
