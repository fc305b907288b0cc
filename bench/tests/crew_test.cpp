#include "process/crew.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "process/shared_array.hpp"

namespace tranca::bench {
namespace {

std::string failure_of(const crew_order& order) {
    try {
        run_crew(order);
    } catch (const worker_failed& failure) {
        return failure.what();
    }
    return "";
}

TEST(Crew, WorkersStartTogetherAndStopTogether) {
    shared_array<long> rounds(3);
    const auto seconds = run_crew({.size = 3,
                                   .length = std::chrono::milliseconds(200),
                                   .work =
                                       [&](int index, baton& signs) {
                                           signs.arrive();
                                           while (!signs.stopped()) {
                                               ++rounds[static_cast<std::size_t>(index)];
                                               ::usleep(1000);
                                           }
                                       },
                                   .where = {},
                                   .tick = {}});
    EXPECT_GE(seconds, 0.2);
    for (const long each : rounds.all())
        EXPECT_GT(each, 0);
}

TEST(Crew, EndsWhenTheWorkersDo) {
    EXPECT_EQ(
        failure_of(
            {.size = 2, .length = {}, .work = [](int, baton& signs) { signs.arrive(); }, .where = {}, .tick = {}}),
        "");
}

TEST(Crew, AWorkersExceptionFailsTheRunWithItsWords) {
    const auto why = failure_of({.size = 2,
                                 .length = std::chrono::seconds(20),
                                 .work =
                                     [](int index, baton& signs) {
                                         signs.arrive();
                                         if (index == 1) throw std::runtime_error("out of items");
                                         while (!signs.stopped())
                                             ::usleep(1000);
                                     },
                                 .where = {},
                                 .tick = {}});
    EXPECT_EQ(why, "worker 1 ended by exit code 1: out of items");
}

TEST(Crew, AKilledWorkerFailsTheRun) {
    const auto why = failure_of({.size = 1,
                                 .length = std::chrono::seconds(20),
                                 .work =
                                     [](int, baton& signs) {
                                         signs.arrive();
                                         ::raise(SIGKILL);
                                     },
                                 .where = {},
                                 .tick = {}});
    EXPECT_EQ(why, "worker 0 ended by killed by signal 9: it left no message");
}

TEST(Crew, AWorkerThatFailsBeforeItArrivesFailsTheRunToo) {
    const auto why = failure_of({.size = 2,
                                 .length = std::chrono::seconds(20),
                                 .work = [](int, baton&) { throw std::runtime_error("cannot connect"); },
                                 .where = {},
                                 .tick = {}});
    EXPECT_NE(why.find("cannot connect"), std::string::npos);
}

}  // namespace
}  // namespace tranca::bench
