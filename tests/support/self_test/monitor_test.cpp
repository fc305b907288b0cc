// The kit's MONITOR reader.
#include <gmock/gmock.h>

#include "support/faults.hpp"
#include "support/monitor_reader.hpp"
#include "support/redis_fixture.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Monitor = redis_fixture;

TEST_F(Monitor, SeesEveryCommandInItsOrder) {
    monitor_reader monitor{server};
    raw.set("early", "1");
    const auto mark = monitor.mark();
    EXPECT_THAT(monitor.commands_since(mark), IsEmpty());
    for (int i = 0; i < 100; ++i) {
        raw.command({"incr", "n"});
    }
    raw.command({"DEL", "n"});
    const auto seen = monitor.commands_since(mark);
    ASSERT_EQ(seen.size(), 101u);
    EXPECT_EQ(seen.front().name(), "INCR");
    EXPECT_EQ(seen.back().text(), "DEL n");
    EXPECT_EQ(seen.back().client, raw.local_address());
    EXPECT_EQ(monitor.commands().front().text(), "SET early 1");
}

TEST_F(Monitor, TellsWhatScriptsCall) {
    monitor_reader monitor{server};
    raw.command({"EVAL", "return redis.call('set', KEYS[1], 'v')", "1", "k"});
    const auto seen = monitor.commands();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_TRUE(seen[1].lua());
    EXPECT_EQ(seen[1].text(), "SET k v");
    EXPECT_THAT(names(seen), ElementsAre("EVAL"));
}

TEST_F(Monitor, LeavesOutWhomItIsTold) {
    monitor_reader monitor{server};
    auto other = server.raw();
    monitor.ignore(other);
    monitor.ignore(raw);
    other.set("a", "1");
    EXPECT_EQ(server.command({"SET", "b", "1"}), "OK");  // by Unix socket
    const auto seen = monitor.commands();
    ASSERT_THAT(names(seen), ElementsAre("SET"));
    EXPECT_THAT(seen[0].client, ::testing::StartsWith("unix:"));
}

TEST_F(Monitor, WaitsForACommand) {
    monitor_reader monitor{server};
    const auto is_del = [](const monitored_command& command) { return command.name() == "DEL"; };
    EXPECT_FALSE(monitor.wait_for(is_del, 1ms));
    raw.del("k");
    EXPECT_TRUE(monitor.wait_for(is_del, 2s));
    EXPECT_FALSE(monitor.wait_for(is_del, 1ms, monitor.mark()));
}

TEST_F(Monitor, ReadsAnyBytes) {
    monitor_reader monitor{server};
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
    }
    raw.must({"SET", bytes, "] \"x\" [\\"});
    const auto seen = monitor.commands();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_THAT(seen[0].arguments, ElementsAre("SET", bytes, "] \"x\" [\\"));
}

TEST_F(Monitor, IsNotKilledWithTheOthers) {
    monitor_reader monitor{server};
    EXPECT_EQ(kill_connections(server), 0);
    raw.set("k", "v");
    EXPECT_EQ(monitor.commands().back().name(), "SET");
}

TEST(MonitorLine, IsTakenApart) {
    const auto command = parse_monitor_line(R"(1700000000.000123 [5 [::1]:50412] "set" "a b" "\x00\r\n\"")");
    EXPECT_EQ(command.time, 1'700'000'000'000'123us);
    EXPECT_EQ(command.database, 5);
    EXPECT_EQ(command.client, "[::1]:50412");
    EXPECT_THAT(command.arguments, ElementsAre("SET", "a b", std::string("\0\r\n\"", 4)));
    EXPECT_THROW(parse_monitor_line("nonsense"), std::runtime_error);
}

}  // namespace
}  // namespace tranca::testing
