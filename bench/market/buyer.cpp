#include "market/buyer.hpp"

#include <chrono>
#include <thread>

namespace tranca::bench {
namespace {

constexpr std::chrono::milliseconds nap{1};  // before looking again at an empty market

}  // namespace

void buyer::work(const baton& signs) {
    while (!signs.stopped()) {
        if (auto wanted = look()) {
            acquire(std::move(*wanted), signs);
        } else {
            std::this_thread::sleep_for(nap);
        }
    }
}

std::optional<offer> buyer::look() {
    const auto found = redis_.ask("ZRANDMEMBER", keys_.market());
    if (found.is_nil()) return std::nullopt;
    const auto [name, seller] = split_member(found.text());
    return offer{std::string(name), seller};
}

void buyer::acquire(offer wanted, const baton& signs) {
    const auto since = std::chrono::steady_clock::now();
    while (!signs.stopped()) {
        const auto result = market_.buy(wanted, user_);
        if (result == outcome::done) {
            const auto waited = std::chrono::steady_clock::now() - since;
            book_.wait.record(static_cast<std::uint64_t>(std::chrono::nanoseconds(waited).count()));
            ++book_.bought;
            return;
        }
        if (result == outcome::retry) ++book_.retries;
        if (result == outcome::gone) {
            auto other = look();
            while (!other && !signs.stopped())
                other = look();
            if (other) wanted = std::move(*other);
        }
    }
}

}  // namespace tranca::bench
