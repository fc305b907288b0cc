#include "support/crew.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "support/seed.hpp"

namespace tranca::testing {

std::chrono::seconds load_length(std::chrono::seconds usual) {
    const char* const told = std::getenv("TRANCA_LOAD_SECONDS");
    return told == nullptr ? usual : std::chrono::seconds{std::atoi(told)};
}

crew::crew(std::size_t size, std::string_view purpose, work what, death on_death)
    : random_{seed(purpose)}, work_{std::move(what)}, on_death_{std::move(on_death)}, children_(size) {
    for (std::size_t worker = 0; worker < size; ++worker)
        start(worker);
}

void crew::start(std::size_t worker) {
    children_[worker] = std::make_unique<child_process>([this, worker, salt = random_()] { work_(worker, salt); });
}

void crew::pause() { std::this_thread::sleep_for(std::chrono::milliseconds{10 + random_() % 60}); }

void crew::disturb(std::chrono::milliseconds longest_freeze) {
    pause();
    if (random_() % 2 == 0) kill_one();
    else freeze_one(longest_freeze);
}

void crew::kill_one() {
    const auto victim = random_() % children_.size();
    children_[victim]->kill_hard();
    if (on_death_) on_death_(victim);
    start(victim);
    ++kills_;
}

void crew::freeze_one(std::chrono::milliseconds longest) {
    auto& victim = *children_[random_() % children_.size()];
    victim.freeze();
    std::this_thread::sleep_for(std::chrono::milliseconds{random_() % static_cast<std::uint64_t>(longest.count() + 1)});
    victim.resume();
    ++freezes_;
}

void crew::finish() {
    for (const auto& child : children_)
        EXPECT_EQ(child->wait(std::chrono::seconds{30}), exited(0));
}

}  // namespace tranca::testing
