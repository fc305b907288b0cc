#include "contended/player.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <tranca/mutex.hpp>
#include <tranca/semaphore.hpp>

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

template <class Primitive>
class waiting_player final : public player {
public:
    using maker = std::function<Primitive(const client&)>;

    waiting_player(const client& redis, maker make)
        : where_(redis.where()), make_(std::move(make)), primitive_(make_(redis)) {}

    void acquire() override { held_ = primitive_.acquire(); }
    void release() override {
        const auto result = held_.release();
        if (result != release_result::released)
            throw std::runtime_error(fmt::format("a lock was {} at its release", name_of(result)));
    }

    // Also waits in vain, while another client holds all there is: the first wait of a connection asks the server for its
    // number.
    void warm_up() override {
        const client other(where_);
        auto all = everything(make_(other)).acquire();
        static_cast<void>(primitive_.try_acquire_for(std::chrono::milliseconds(1)));
        all.release();
        player::warm_up();
    }

private:
    static mutex everything(mutex lock) { return lock; }
    static semaphore everything(const semaphore& permits) { return permits.weighted(permits.limit()); }

    endpoint where_;
    maker make_;
    Primitive primitive_;
    guard held_;
};

}  // namespace

std::unique_ptr<player> make_player(const std::string& primitive, const client& redis, const std::string& name) {
    if (primitive == "raw") return std::make_unique<polling_player>(redis.where(), name);
    const auto order = primitive.ends_with(" in line") ? fairness::on : fairness::off;
    if (primitive.starts_with("semaphore"))
        return std::make_unique<waiting_player<semaphore>>(redis, [=](const client& through) {
            return semaphore(through, name, contested_permits, {.fairness = order});
        });
    return std::make_unique<waiting_player<mutex>>(
        redis, [=](const client& through) { return mutex(through, name, {.fairness = order}); });
}

}  // namespace tranca::bench
