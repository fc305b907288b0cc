// Acquire and release in a hurry, while renewals are under way and connections break: cases C06, C12, H02, H13, B12.
#include <map>
#include <random>
#include <thread>

#include "mutex/mutex_fixture.hpp"
#include "mutex/sleeping_thread.hpp"
#include "support/faults.hpp"
#include "support/monitor_reader.hpp"
#include "support/overlap_counter.hpp"
#include "support/seed.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

class Cycles : public mutex_fixture {
protected:
    /// The token of a command of ours that has one, by the number of its keys.
    [[nodiscard]] static std::string token_of(const testing::monitored_command& command) {
        if (command.lua()) return {};
        if (command.name() == "SET" && command.arguments.at(3) == "IFEQ") return command.arguments.at(2).substr(0, 32);
        if (command.name().substr(0, 4) != "EVAL") return {};
        return command.arguments.at(3 + std::stoul(command.arguments.at(2)));
    }
    /// Extending takes one key, or one command where the server has it.
    [[nodiscard]] static bool extends(const testing::monitored_command& command) {
        return command.name() == "SET" || command.arguments.at(2) == "1";
    }
    /// Releasing has nothing after the token.
    [[nodiscard]] static bool releases(const testing::monitored_command& command) {
        return command.name() != "SET" && command.arguments.size() == 4 + std::stoul(command.arguments.at(2));
    }
};

TEST_F(Cycles, SendNothingAfterARelease) {
    testing::tcp_gate gate{server.tcp()};
    gate.delay_replies({0ms, 3ms});
    client_options options;
    options.sink = told;
    // An answer that was given up could come after the release, on a machine that is busy.
    const client through{gate.url() + "?command_timeout=20s", options};
    static_cast<void>(mutex{through, "rights"}.acquire());  // a client's first asks whether it may release
    testing::monitor_reader monitor{server};
    std::vector<std::jthread> workers;
    for (int worker = 0; worker < 8; ++worker)
        workers.emplace_back([&, worker] {
            std::mt19937_64 random{testing::seed("cycles " + std::to_string(worker))};
            const mutex lock{through, "cycle " + std::to_string(worker), lasting(20s, 4ms)};
            for (int i = 0; i < 60; ++i) {
                auto held = lock.acquire();
                std::this_thread::sleep_for(std::chrono::microseconds{random() % 12'000});  // any moment of a renewal
                EXPECT_EQ(held.release(), release_result::released);
            }
        });
    workers.clear();
    EXPECT_TRUE(throughout(50ms, [&] { return raw.keys("lock:*").empty(); }));
    std::map<std::string, int> released;
    int renewals = 0;
    for (const auto& command : monitor.commands()) {
        const auto token = token_of(command);
        if (token.empty()) continue;
        if (releases(command)) ++released[token];
        else if (extends(command)) {
            ++renewals;
            EXPECT_FALSE(released.contains(token)) << command.text();
        }
    }
    EXPECT_GT(renewals, 100);
    EXPECT_GE(released.size(), 480u);
    for (const auto& [token, times] : released)
        EXPECT_EQ(times, 1);                              // B12: the destructor adds nothing
    EXPECT_EQ(told->count(event::kind::lease_lost), 0u);  // C12
    EXPECT_EQ(told->count(event::kind::release_expired), 0u);
}

// A renewal in flight is waited for: it cannot arrive after the release.
TEST_F(Cycles, ReleaseAfterTheRenewalInFlight) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url(), told_to(told)};
    auto held = mutex{through, "thing", lasting(30s, 50ms)}.acquire();
    gate.hold(extension());
    ASSERT_TRUE(gate.wait_until_held(5s));
    const auto owner = token();
    release_result result{};
    sleeping_thread releaser{[&] { result = held.release(); }};
    ASSERT_TRUE(releaser.sleeps());
    EXPECT_TRUE(throughout(100ms, [&] { return !releaser.done() && exists(); }));
    gate.let_go();
    ASSERT_TRUE(releaser.done_within(1s));
    EXPECT_EQ(result, release_result::released);
    testing::monitor_reader monitor{server};
    const auto mark = monitor.mark();
    EXPECT_TRUE(throughout(150ms, [&] { return !exists(); }));
    for (const auto& command : monitor.commands_since(mark))
        EXPECT_EQ(command.text().find(owner), std::string::npos) << command.text();
}

// H13, H02: two processes' worth of threads, connections that break under them, nobody inside beside another.
TEST_F(Cycles, KeepExclusionWhileConnectionsBreak) {
    testing::overlap_counter overlap{1};
    std::atomic<std::uint64_t> last{0};
    std::atomic<bool> stop{false};
    std::atomic<int> cycles{0};
    const auto first = another(lasting(3s, 20ms));
    const auto second = another(lasting(3s, 20ms));
    std::vector<std::jthread> workers;
    for (std::size_t worker = 0; worker < 8; ++worker)
        workers.emplace_back([&, worker] {
            const auto& lock = (worker % 2 == 0 ? first : second)->lock;
            while (!stop) {
                std::optional<guard> held;
                const auto failure = thrown_by([&] { held = lock.try_acquire_for(1s); });
                EXPECT_TRUE(!failure || failure->reason() == errc::connection_lost) << failure->what();
                if (!held) continue;
                const testing::overlap_scope inside{overlap, worker};  // ends before the release
                EXPECT_LT(last.exchange(*held->fence()), *held->fence());
                ++cycles;
            }
        });
    for (int i = 0; i < 40; ++i) {
        const auto before = cycles.load();
        EXPECT_TRUE(eventually(5s, [&] { return cycles > before + 10; })) << i;
        testing::kill_connections(server);
    }
    stop = true;
    workers.clear();
    EXPECT_EQ(overlap.overruns(), 0u);
    EXPECT_TRUE(eventually(4s, [&] { return !exists(); }));
}

}  // namespace
}  // namespace tranca::mutex_test
