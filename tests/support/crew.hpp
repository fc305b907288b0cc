// crew: processes that all do the same work for some seconds, while some of them are killed and frozen at random.
//
//     crew workers{8, "mutex load", [&](std::size_t worker, std::uint64_t salt) { ... until *stop ... }};
//     for (const deadline end{load_length(8s)}; !end.expired();) workers.disturb(500ms);
//     *stop = true;
//     workers.finish();                                    // each of them ended well
//
// A killed one is replaced at once. TRANCA_LOAD_SECONDS shortens or lengthens every such run.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "support/child_process.hpp"

namespace tranca::testing {

[[nodiscard]] std::chrono::seconds load_length(std::chrono::seconds usual);

class crew {
public:
    using work = std::function<void(std::size_t worker, std::uint64_t salt)>;
    using death = std::function<void(std::size_t worker)>;

    // `on_death`: called between the end of a killed one and the start of its replacement.
    crew(std::size_t size, std::string_view purpose, work what, death on_death = {});

    // After a moment, which is the pace of it all: one is killed, or frozen for at most so long.
    void disturb(std::chrono::milliseconds longest_freeze);
    void pause();
    void kill_one();
    void freeze_one(std::chrono::milliseconds longest);

    void finish();  // fails the test unless all end with 0

    [[nodiscard]] std::mt19937_64& random() { return random_; }
    [[nodiscard]] int kills() const { return kills_; }
    [[nodiscard]] int freezes() const { return freezes_; }

private:
    void start(std::size_t worker);

    std::mt19937_64 random_;
    work work_;
    death on_death_;
    std::vector<std::unique_ptr<child_process>> children_;
    int kills_ = 0;
    int freezes_ = 0;
};

}  // namespace tranca::testing
