// One client process of the fault programme: acquires, works inside, extends, releases, and writes all of it down, until it is
// told to end by SIGTERM - or is killed.
#include <csignal>

#include <atomic>
#include <chrono>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include <unistd.h>

#include "faults/fenced_register.hpp"
#include "faults/history.hpp"
#include "faults/workload.hpp"

namespace tranca::faults_test {
namespace {

using namespace std::chrono_literals;

constinit std::atomic<bool> told_to_end{false};

std::int64_t wall_clock_us() {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

class worker {
public:
    worker(const workload_settings& settings, const workload& load, std::int64_t thread)
        : settings_{settings},
          load_{load},
          log_{settings.file},
          random_{settings.seed + 7'919 * static_cast<std::uint64_t>(thread)},
          prefix_{std::to_string(::getpid()) + "." + std::to_string(thread) + "."} {
        if (!settings.resource.empty()) resource_.emplace(settings.resource);
    }

    void run() {
        while (!told_to_end) {
            const auto coming = load_.next(random_);
            begin_attempts(coming);
            if (auto held = acquire(coming)) {
                be_inside(coming, *held);
                leave(coming, *held);
            }
            pause();
        }
    }

private:
    [[nodiscard]] bool is(const char* fault) const { return settings_.broken == fault; }
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_() % std::max<std::uint64_t>(bound, 1); }

    void begin_attempts(const acquisition& coming) {
        ++count_;
        attempts_.clear();
        for (const auto& name : coming.names)
            attempts_.push_back(coming.names.size() == 1 ? prefix_ + std::to_string(count_)
                                                         : prefix_ + std::to_string(count_) + "/" + name);
    }

    // The same for each of the names.
    void tell(const acquisition& about, record what) const {
        what.client = settings_.client;
        what.mode = about.shared ? "shared" : "";
        what.lease = settings_.ttl.count();
        for (std::size_t i = 0; i < about.names.size(); ++i) {
            what.lock = about.names[i];
            what.attempt = attempts_[i];
            log_.write(what);
        }
    }

    [[nodiscard]] milliseconds next_wait() {
        if (settings_.pace == pace::brief) return 0ms;
        // Some give up early, around the time at which they might be woken.
        return below(4) == 0 ? milliseconds{below(60)} : settings_.wait;
    }

    std::optional<guard> acquire(const acquisition& coming) {
        const auto wait = next_wait();
        tell(coming, {.operation = op::acquire, .phase = phase::invoked, .wait = wait.count()});
        try {
            auto held = coming.acquire(wait);
            if (is("oversleeps")) std::this_thread::sleep_for(1'500ms);
            if (held) tell_of(coming, *held);
            else tell(coming, {.operation = op::acquire, .phase = phase::failed, .wait = wait.count(), .why = "busy"});
            return held;
        } catch (const error& failure) {
            tell(coming, {.operation = op::acquire,
                          .phase = failure.in_doubt() ? phase::unknown : phase::failed,
                          .wait = wait.count(),
                          .why = failure.what()});
            return std::nullopt;
        }
    }

    void tell_of(const acquisition& coming, const guard& held) {
        fence_ = held.fence().value_or(0);
        if (is("forgets_order") && fence_ > 0) fence_ = 1'000'000'000'000U - count_;
        slots_.assign(held.slots().begin(), held.slots().end());
        if (settings_.kind == "clock_semaphore") slots_ = {-1};  // it counts, but has no numbers
        record granted{.operation = op::acquire, .phase = phase::ok, .fence = fence_, .slots = slots_};
        granted.valid_until = validity_of(held);
        granted.wall = wall_clock_us();
        tell(coming, granted);
    }

    [[nodiscard]] instant validity_of(const guard& held) const {
        const auto until = held.safe_until();
        const instant own =
            until == clock::time_point::max() ? now() + 3'600'000'000'000 : until.time_since_epoch().count();
        return is("believes") ? own + 5'000'000'000 : own;
    }

    void be_inside(const acquisition& coming, guard& held) {
        const auto first = read(coming);
        const auto leaves =
            clock::now() + std::chrono::microseconds{below(std::uint64_t(settings_.hold.count()) * 1'000)};
        if (below(4) == 0) extend(coming, held);
        const bool lingers = (is("believes") || is("deletes")) && below(3) == 0;
        if (lingers) std::this_thread::sleep_for(settings_.ttl * 3 / 2);
        do {
            std::this_thread::sleep_for(std::chrono::microseconds{200 + below(800)});
            ask(coming, held);
        } while (clock::now() < leaves && held);
        if (first) write(coming, *first + 1);
    }

    void extend(const acquisition& coming, guard& held) {
        tell(coming, {.operation = op::extend, .phase = phase::invoked});
        try {
            const bool ours = held.extend();
            record answer{.operation = op::extend, .phase = ours ? phase::ok : phase::failed};
            if (ours) answer.valid_until = validity_of(held);
            tell(coming, answer);
        } catch (const error& failure) {
            tell(coming, {.operation = op::extend, .phase = phase::unknown, .why = failure.what()});
        }
    }

    // Written down with the time before it was asked: by then it surely was as the guard said.
    void ask(const acquisition& coming, const guard& held) {
        record answer{.time = now(), .operation = op::check, .phase = phase::ok};
        answer.valid_until = validity_of(held);
        if (!held) answer.phase = phase::failed;
        tell(coming, answer);
    }

    std::optional<std::int64_t> read(const acquisition& coming) { return access(coming, "read", 0); }
    void write(const acquisition& coming, std::int64_t value) {
        if (!coming.shared) static_cast<void>(access(coming, "write", value));
    }

    // Several names guard one thing each; the first is enough.
    std::optional<std::int64_t> access(const acquisition& coming, const char* mode, std::int64_t value) {
        if (!resource_) return std::nullopt;
        record asked{.process = ::getpid(), .client = settings_.client, .operation = op::access};
        asked.lock = coming.names.front();
        asked.attempt = attempts_.front();
        asked.mode = mode;
        asked.fence = fence_;
        asked.value = value;
        if (!slots_.empty()) asked.slots = {slots_.front()};
        return resource_->access(asked);
    }

    void leave(const acquisition& coming, guard& held) {
        if (settings_.pace == pace::dense && below(64) == 0) return forget(coming, held);
        tell(coming, {.operation = op::release, .phase = phase::invoked});
        const auto result = is("deletes") ? delete_key(coming, held) : held.release();
        auto outcome = phase::failed;
        if (result == release_result::released || is("lies")) outcome = phase::ok;
        if (result == release_result::unknown) outcome = phase::unknown;
        tell(coming, {.operation = op::release, .phase = outcome});
    }

    // As one that crashed: the key stays until its lease ends.
    void forget(const acquisition& coming, guard& held) {
        tell(coming, {.operation = op::release, .phase = phase::invoked});
        if (is("forgets"))
            load_.redis().pool()->with_connection(resend::safe, [&](connection& redis) {
                static_cast<void>(redis.command(request{"PERSIST", "lock:" + coming.names.front()}));
            });
        held.abandon();
        tell(coming, {.operation = op::release, .phase = phase::unknown, .why = "abandoned"});
    }

    release_result delete_key(const acquisition& coming, guard& held) {
        held.abandon();
        load_.redis().pool()->with_connection(resend::safe, [&](connection& redis) {
            static_cast<void>(redis.command(request{"DEL", "lock:" + coming.names.front()}));
        });
        return release_result::released;
    }

    void pause() {
        if (settings_.pace == pace::dense) return std::this_thread::sleep_for(std::chrono::microseconds{below(1'500)});
        if (settings_.pace == pace::brief)
            return std::this_thread::sleep_for(std::chrono::microseconds{2'000 + below(6'000)});
        // All meet again at the next round.
        constexpr instant round = 250'000'000;
        const auto next = (now() / round + 1) * round + static_cast<instant>(below(4'000'000));
        while (!told_to_end && now() < next)
            std::this_thread::sleep_for(1ms);
    }

    const workload_settings& settings_;
    const workload& load_;
    history_writer log_;
    std::mt19937_64 random_;
    std::string prefix_;
    std::optional<register_client> resource_;
    std::uint64_t count_{0};
    std::vector<std::string> attempts_;
    std::uint64_t fence_{0};
    std::vector<std::int64_t> slots_;
};

int work(const std::vector<std::string>& words) {
    std::signal(SIGTERM, [](int) { told_to_end = true; });
    const auto settings = settings_from(words);
    const workload load{settings};
    std::vector<std::jthread> threads;
    for (std::int64_t thread = 0; thread < settings.threads; ++thread)
        threads.emplace_back([&settings, &load, thread] { worker{settings, load, thread}.run(); });
    return 0;
}

}  // namespace
}  // namespace tranca::faults_test

int main(int count, char** words) {
    try {
        return tranca::faults_test::work({words + 1, words + count});
    } catch (const std::exception& failure) {
        std::cerr << "worker: " << failure.what() << '\n';
        return 1;
    }
}
