#include "interleave/actor.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

namespace tranca::interleave {

namespace {

thread_local actor* actor_here = nullptr;

constexpr std::chrono::seconds patience_with_an_actor{20};

}  // namespace

actor* actor::current() noexcept { return actor_here; }

actor::~actor() {
    {
        const std::lock_guard lock{mutex_};
        turn_ = turn::end;
        turned_.notify_all();
    }
    thread_.join();
}

void actor::run() {
    actor_here = this;
    std::unique_lock lock{mutex_};
    for (;;) {
        turned_.wait(lock, [&] { return turn_ != turn::scheduler; });
        if (turn_ == turn::end) return;
        lock.unlock();
        std::exchange(body_, nullptr)();
        lock.lock();
        where_ = place::over;
        turn_ = turn::scheduler;
        turned_.notify_all();
    }
}

void actor::start(std::function<void()> body) {
    body_ = std::move(body);
    dismissed_ = false;
    give_turn_to_client();
}

void actor::go_on(exchange_hook::fate decided) {
    fate_ = decided;
    give_turn_to_client();
}

void actor::only_send() {
    only_sends_ = true;
    go_on(exchange_hook::fate::answered);
}

void actor::stop_after_send() {
    if (std::exchange(only_sends_, false)) stand_at(place::sent);
}

void actor::end_wait(exchange_hook::wait decided) {
    wait_ = decided;
    give_turn_to_client();
}

void actor::dismiss() {
    dismissed_ = true;
    fate_ = exchange_hook::fate::refused;
    wait_ = exchange_hook::wait::broken;
    if (where_ != place::over) give_turn_to_client();
}

void actor::give_turn_to_client() {
    std::unique_lock lock{mutex_};
    turn_ = turn::client;
    turned_.notify_all();
    if (!turned_.wait_for(lock, patience_with_an_actor, [&] { return turn_ == turn::scheduler; }))
        throw std::runtime_error("a client neither ends nor sends");
}

void actor::stand_at(place where) {
    std::unique_lock lock{mutex_};
    where_ = where;
    turn_ = turn::scheduler;
    turned_.notify_all();
    turned_.wait(lock, [&] { return turn_ == turn::client; });
}

exchange_hook::fate actor::stop_before_send(std::string_view bytes, int descriptor) {
    if (dismissed_) return exchange_hook::fate::refused;
    bytes_ = bytes;
    descriptor_ = descriptor;
    stand_at(place::sending);
    return fate_;
}

exchange_hook::wait actor::stop_before_wait(int descriptor) {
    if (dismissed_) return exchange_hook::wait::broken;
    descriptor_ = descriptor;
    stand_at(place::waiting);
    return wait_;
}

}  // namespace tranca::interleave
