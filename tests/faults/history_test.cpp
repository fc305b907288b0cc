// The record itself: what is written is read again, also after a kill in the middle of a line.
#include <gmock/gmock.h>

#include <fstream>

#include "faults/history.hpp"
#include "support/temporary_directory.hpp"

namespace tranca::faults_test {
namespace {

record full_record() {
    record made;
    made.time = 1'234'567'890'123;
    made.process = 77;
    made.client = 3;
    made.operation = op::acquire;
    made.phase = phase::unknown;
    made.lock = "thing \"quoted\"";
    made.attempt = "77.1";
    made.mode = "shared";
    made.fence = 9'007'199'254'740'991;
    made.slots = {4, 0};
    made.lease = 400;
    made.wait = 20;
    made.valid_until = 9;
    made.wall = 8;
    made.value = -1;
    made.target = 12;
    made.why = "no answer";
    return made;
}

TEST(History, IsReadAsItWasWritten) {
    const auto made = full_record();
    const auto read = from_line(to_line(made));
    EXPECT_EQ(to_line(read), to_line(made));
    EXPECT_EQ(read.fence, made.fence);
    EXPECT_EQ(read.slots, made.slots);
    EXPECT_EQ(read.phase, phase::unknown);
    EXPECT_EQ(read.lock, made.lock);
}

TEST(History, FillsInTimeAndProcess) {
    const testing::temporary_directory home;
    const auto before = now();
    history_writer{home / "a.jsonl"}.write({.operation = op::check, .lock = "a"});
    const auto read = read_history(home / "a.jsonl");
    ASSERT_EQ(read.size(), 1u);
    EXPECT_GE(read[0].time, before);
    EXPECT_GT(read[0].process, 0);
}

TEST(History, LeavesOutALineThatAKillCutShort) {
    const testing::temporary_directory home;
    {
        const history_writer writer{home / "a.jsonl"};
        writer.write(full_record());
    }
    std::ofstream{home / "a.jsonl", std::ios::app} << R"({"t":5,"op":"acq)";
    EXPECT_EQ(read_history(home / "a.jsonl").size(), 1u);
}

TEST(History, RefusesALineThatIsNoRecord) {
    const testing::temporary_directory home;
    std::ofstream{home / "a.jsonl"} << "{\"t\":\"now\"}\n";
    EXPECT_THROW(static_cast<void>(read_history(home / "a.jsonl")), std::runtime_error);
}

TEST(History, OfAllProcessesIsInTheOrderOfTime) {
    const testing::temporary_directory home;
    const history_writer one{home / "1.jsonl"};
    const history_writer other{home / "2.jsonl"};
    one.write({.time = 3, .lock = "third"});
    one.write({.time = 5, .lock = "fifth"});
    other.write({.time = 4, .lock = "fourth"});
    std::vector<std::string> order;
    for (const auto& each : read_histories(home.path()))
        order.push_back(each.lock);
    EXPECT_THAT(order, ::testing::ElementsAre("third", "fourth", "fifth"));
}

}  // namespace
}  // namespace tranca::faults_test
