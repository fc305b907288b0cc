#include "contended/player.hpp"

#include <chrono>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include <tranca/mutex.hpp>

#include "raw/hand_written.hpp"

namespace tranca::bench {
namespace {

constexpr std::string_view name_of(release_result result) noexcept {
    if (result == release_result::expired) return "no longer held";
    return result == release_result::taken ? "somebody else's" : "in doubt (no answer)";
}

// As the ladder's px_lock does it, whose defaults these are.
class polling_player final : public player {
public:
    polling_player(const endpoint& where, const std::string& name)
        : redis_(where), hand_(redis_), key_("lock:" + name) {}

    void acquire() override { held_ = hand_.wait_for_px_lock(key_, ttl_ms, pause); }
    void release() override { hand_.release_px_lock(key_, held_); }

private:
    static constexpr int ttl_ms = 10'000;
    static constexpr std::chrono::milliseconds pause{1};

    wire redis_;
    hand_written hand_;
    std::string key_;
    hand_written::token held_{};
};

class mutex_player final : public player {
public:
    mutex_player(const client& redis, const std::string& name)
        : where_(redis.where()), name_(name), lock_(redis, name) {}

    void acquire() override { held_ = lock_.acquire(); }
    void release() override {
        const auto result = held_.release();
        if (result != release_result::released)
            throw std::runtime_error(fmt::format("a mutex was {} at its release", name_of(result)));
    }

    // Also waits in vain, while somebody else holds it: the first wait of a connection asks the server for its number.
    void warm_up() override {
        polling_player other(where_, name_);
        other.acquire();
        static_cast<void>(lock_.try_acquire_for(std::chrono::milliseconds(1)));
        other.release();
        player::warm_up();
    }

private:
    endpoint where_;
    std::string name_;
    mutex lock_;
    guard held_;
};

}  // namespace

std::unique_ptr<player> make_player(const std::string& primitive, const client& redis, const std::string& name) {
    if (primitive == "raw") return std::make_unique<polling_player>(redis.where(), name);
    return std::make_unique<mutex_player>(redis, name);
}

}  // namespace tranca::bench
