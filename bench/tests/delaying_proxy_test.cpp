#include "server/delaying_proxy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "raw/wire.hpp"
#include "server/private_server.hpp"

namespace tranca::bench {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

class DelayingProxy : public testing::Test {
protected:
    static steady::duration time_of(wire& redis) {
        const auto begin = steady::now();
        redis.ask("PING");
        return steady::now() - begin;
    }

    private_server server_;
};

TEST_F(DelayingProxy, AddsItsDelayInBothDirections) {
    const delaying_proxy network(server_.over_tcp(), 20ms);
    wire redis(network.where());
    for (int i = 0; i < 5; ++i)
        EXPECT_GE(time_of(redis), 40ms);
}

TEST_F(DelayingProxy, DelaysAPipelineOnceAndKeepsItsOrder) {
    const delaying_proxy network(server_.over_tcp(), 50ms);
    wire redis(network.where());
    const auto begin = steady::now();
    for (int i = 0; i < 50; ++i)
        redis.send("ECHO", i);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(redis.next().text(), std::to_string(i));
    EXPECT_LT(steady::now() - begin, 50 * 100ms) << "as many delays as commands";
}

TEST_F(DelayingProxy, LosesNothingOfALongAnswer) {
    const delaying_proxy network(server_.over_unix(), 1ms);
    wire redis(network.where());
    const std::string value(1'000'000, 'x');
    redis.ask("SET", "long", value);
    EXPECT_EQ(redis.ask("GET", "long").text(), value);
}

TEST_F(DelayingProxy, ASleeperHoldsUpNobodyElse) {
    const delaying_proxy network(server_.over_tcp(), 1ms);
    wire sleeper(network.where()), other(network.where());
    sleeper.send("BLPOP", "list", 20);
    std::thread waits([&] { EXPECT_EQ(sleeper.next().text(1), "it"); });
    EXPECT_LT(time_of(other), 10s);
    other.ask("LPUSH", "list", "it");
    waits.join();
}

TEST_F(DelayingProxy, EndsTheConnectionThatTheServerEnds) {
    const delaying_proxy network(server_.over_tcp(), 1ms);
    wire redis(network.where());
    const auto id = redis.ask("CLIENT", "ID").integer();
    wire(server_.over_tcp()).ask("CLIENT", "KILL", "ID", id);
    EXPECT_THROW(redis.ask("PING"), std::runtime_error);
}

TEST_F(DelayingProxy, EndsTheConnectionThatTheClientEnds) {
    const delaying_proxy network(server_.over_tcp(), 1ms);
    wire spy(server_.over_tcp());
    const auto others = [&] {
        const auto list = std::string(spy.ask("CLIENT", "LIST", "TYPE", "normal").text());
        return std::count(list.begin(), list.end(), '\n') - 1;
    };
    { wire(network.where()).ask("PING"); }
    for (const auto end = steady::now() + 10s; others() > 0 && steady::now() < end;)
        std::this_thread::sleep_for(1ms);
    EXPECT_EQ(others(), 0);
}

}  // namespace
}  // namespace tranca::bench
