// One client, many threads, and connections that are killed all the time (case H13).
#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/scripts.hpp>

#include "support/deadline.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

class ClientThreads : public redis_fixture {
protected:
    static constexpr int threads = 32;

    template <class Work>
    static void in_threads(Work&& work) {
        std::vector<std::jthread> crew;
        for (int number = 0; number < threads; ++number)
            crew.emplace_back([&work, number] { work(number); });
    }
};

// Each thread knows its answers: any that belongs to another is a failure.
void mixed_operations(client& redis, int thread, int round) {
    const auto mine = "k" + std::to_string(thread);
    const auto value = std::to_string(thread) + ":" + std::to_string(round);
    switch (round % 5) {
    case 0: EXPECT_EQ(redis.command("ECHO", value).text(), value); break;
    case 1:
        redis.command("SET", mine, value);
        EXPECT_EQ(redis.command("GET", mine).text(), value);
        break;
    case 2: {
        auto line = redis.pool()->borrow();
        const auto answers = line->pipeline(request{"ECHO", value}.add("ECHO", mine));
        EXPECT_EQ(answers[0].text(), value);
        EXPECT_EQ(answers[1].text(), mine);
        break;
    }
    case 3: EXPECT_EQ(redis.command("EVAL", "return ARGV[1]", 0, value).text(), value); break;
    case 4: {
        const auto mine_alone = token::generate();
        EXPECT_EQ(run(*redis.pool(), scripts::release_lock().call({mine + ":none"}, mine_alone)).integer(), 0);
        break;
    }
    }
}

TEST_F(ClientThreads, GetTheirOwnAnswers) {
    client redis{server.url()};
    in_threads([&](int number) {
        for (int round = 0; round < 300; ++round)
            mixed_operations(redis, number, round);
    });
    EXPECT_TRUE(eventually(5s, [&] { return server.foreign_connections() <= 16; })) << "more are kept than told";
}

TEST_F(ClientThreads, GetTheirOwnAnswersOrAnErrorWhileConnectionsAreKilled) {
    client redis{server.url()};
    std::atomic<int> done{0};
    std::atomic<int> lost{0};
    std::jthread killer{[&](const std::stop_token& stop) {
        while (!stop.stop_requested())
            kill_connections(server);
    }};
    in_threads([&](int number) {
        for (int round = 0; round < 200; ++round)
            try {
                mixed_operations(redis, number, round);
                ++done;
            } catch (const error& failure) {
                EXPECT_EQ(failure.code(), errc::connection_lost) << failure.what();
                ++lost;
            }
    });
    killer.request_stop();
    killer.join();
    EXPECT_GT(done, 0);
    EXPECT_EQ(done + lost, threads * 200);
    EXPECT_EQ(redis.command("ECHO", "still alive").text(), "still alive");
}

TEST_F(ClientThreads, ShareFewConnectionsWhenTheyTakeTurns) {
    client redis{server.url(), {.max_idle_connections = 2}};
    in_threads([&](int number) {
        for (int round = 0; round < 50; ++round)
            mixed_operations(redis, number, round);
    });
    EXPECT_TRUE(eventually(5s, [&] { return server.foreign_connections() <= 2; }));
}

// The client goes while its pool is in use: those who hold the pool finish what they do.
TEST_F(ClientThreads, MayHoldThePoolLongerThanTheClientLives) {
    for (int round = 0; round < 20; ++round) {
        auto redis = std::make_unique<client>(server.url());
        std::vector<std::jthread> crew;
        for (int number = 0; number < 8; ++number)
            crew.emplace_back([pool = redis->pool()] {
                while (!pool->closing().stop_requested())
                    try {
                        EXPECT_EQ(pool->borrow()->command(request{"PING"}).text(), "PONG");
                    } catch (const error& failure) {
                        EXPECT_EQ(failure.code(), errc::connection_lost);
                    }
            });
        if (round % 2 == 0) kill_connections(server);
        redis.reset();
    }
    EXPECT_TRUE(eventually(5s, [&] { return server.foreign_connections() == 0; }));
}

TEST_F(ClientThreads, ReportEventsOneByOneOrTogetherWithoutHarm) {
    std::atomic<int> told{0};
    client redis{server.url(), {.on_event = [&](const event& happening) {
                     if (happening.key == "k" && happening.detail == "d") ++told;
                     throw std::runtime_error{"a sink that throws"};
                 }}};
    in_threads([&](int) {
        for (int i = 0; i < 100; ++i)
            redis.pool()->report(event::kind::lease_lost, key{"k"}, "d");
    });
    EXPECT_EQ(told, threads * 100);
}

}  // namespace
}  // namespace tranca::testing
