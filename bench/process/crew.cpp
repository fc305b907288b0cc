#include "process/crew.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "process/child.hpp"
#include "process/interrupt.hpp"
#include "process/shared_array.hpp"

namespace tranca::bench {
namespace {

using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto start_limit = 20s;  // to connect
constexpr auto stop_limit = 30s;   // longer than any single wait for a lock inside a worker
constexpr auto look_every = 20ms;
constexpr auto tick_every = 200ms;

// What a worker died of, where its parent can read it.
struct note {
    std::array<char, 400> text{};
};

class crew {
public:
    explicit crew(const crew_order& order) : order_(order), signs_(1), notes_(static_cast<std::size_t>(order.size)) {
        for (int i = 0; i < order.size; ++i) {
            workers_.push_back(child::fork([this, i] { return work(i); }));
        }
    }

    double run() {
        wait_for_arrivals();
        const auto begin = steady::now();
        signs_[0].go();
        while (!over(steady::now() - begin)) {
            std::this_thread::sleep_for(look_every);
        }
        signs_[0].stop();
        const std::chrono::duration<double> worked = steady::now() - begin;
        reap();
        return worked.count();
    }

private:
    int work(int index) noexcept {
        interrupt::ignore_in_child();
        if (!order_.where.empty()) pin(0, order_.where);
        try {
            order_.work(index, signs_[0]);
            return 0;
        } catch (const std::exception& e) {
            auto& text = notes_[static_cast<std::size_t>(index)].text;
            std::snprintf(text.data(), text.size(), "%s", e.what());
            return 1;
        }
    }

    void wait_for_arrivals() {
        const auto deadline = steady::now() + start_limit;
        while (signs_[0].arrived() < order_.size) {
            check_for_dead();
            if (interrupt::requested()) signs_[0].stop();
            if (steady::now() > deadline) throw worker_failed("the workers did not get ready in time");
            std::this_thread::sleep_for(1ms);
        }
    }

    bool over(std::chrono::duration<double> elapsed) {
        const auto all_ended = check_for_dead();
        if (order_.tick && elapsed >= next_tick_) {
            order_.tick(elapsed.count());
            next_tick_ = elapsed + tick_every;
        }
        return all_ended || interrupt::requested() || (order_.length.count() > 0 && elapsed >= order_.length);
    }

    // True when all have ended well; throws when one has not.
    bool check_for_dead() {
        bool all = true;
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            if (!workers_[i].ended()) {
                all = false;
            } else if (!workers_[i].succeeded()) {
                throw worker_failed(fmt::format("worker {} ended by {}: {}", i, workers_[i].ending(), reason(i)));
            }
        }
        return all;
    }

    void reap() {
        const auto deadline = steady::now() + stop_limit;
        while (!check_for_dead()) {
            if (steady::now() > deadline) throw worker_failed("a worker did not stop in time");
            std::this_thread::sleep_for(1ms);
        }
    }

    std::string reason(std::size_t index) const {
        const auto* text = notes_[index].text.data();
        return *text == '\0' ? "it left no message" : text;
    }

    const crew_order& order_;
    shared_array<baton> signs_;
    shared_array<note> notes_;
    std::chrono::duration<double> next_tick_{0};
    std::vector<child> workers_;  // last: they are killed before the memory they use is unmapped
};

}  // namespace

double run_crew(const crew_order& order) { return crew(order).run(); }

}  // namespace tranca::bench
