// The auditor must find what is wrong: each test plants one violation in a sound market on a real Redis.

#include "market/audit.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "market/stock.hpp"
#include "market/trader.hpp"
#include "server/private_server.hpp"

namespace tranca::bench {
namespace {

class Audit : public testing::Test {
protected:
    static void SetUpTestSuite() { server = std::make_unique<private_server>(); }
    static void TearDownTestSuite() { server.reset(); }

    Audit() : redis_(server->over_tcp()), ledgers_(3) {
        clear_market(redis_, keys_, setting_);
        stock_market(redis_, keys_, setting_, ledgers_);
        trade();
    }

    // User 0 lists one of two new items, user 2 buys one from the opening stock.
    void trade() {
        const auto market = make_trader(mode::script, redis_, server->over_tcp(), keys_);
        for (int i = 0; i < 2; ++i) {
            const item piece{ledgers_[0].made++, 0};
            redis_.ask("SADD", keys_.inventory(0), piece.name());
        }
        EXPECT_EQ(market->list(item{ledgers_[0].made - 1, 0}.name(), 0, 17), outcome::done);
        ++ledgers_[0].listed;
        EXPECT_EQ(market->buy({"7-1", 1}, 2), outcome::done);
        ++ledgers_[2].bought;
    }

    std::string violations() {
        std::string all;
        for (const auto& one : audit_market(redis_, keys_, setting_, ledgers_))
            all += one + "\n";
        return all;
    }

    static inline std::unique_ptr<private_server> server;
    const cell setting_{2, 1, mode::script};
    const market_keys keys_{"audit:", setting_.users()};
    wire redis_;
    std::vector<ledger> ledgers_;
};

TEST_F(Audit, FindsNothingInASoundMarket) { EXPECT_EQ(violations(), ""); }

TEST_F(Audit, FindsMoneyFromNowhere) {
    redis_.ask("HINCRBY", keys_.account(1), "funds", 1);
    EXPECT_NE(violations().find("the funds add up to"), std::string::npos);
}

TEST_F(Audit, FindsADebtThatIsBalancedElsewhere) {
    redis_.ask("HINCRBY", keys_.account(0), "funds", -5);
    redis_.ask("HINCRBY", keys_.account(1), "funds", 5);
    EXPECT_EQ(violations(), "user 0 has a negative balance: -5\n");
}

TEST_F(Audit, FindsAnItemInTwoInventories) {
    redis_.ask("SADD", keys_.inventory(1), "7-1");
    EXPECT_NE(violations().find("7-1 in audit:inventory:2 stands somewhere else as well"), std::string::npos);
}

TEST_F(Audit, FindsAnItemSoldButStillOnTheMarket) {
    redis_.ask("ZADD", keys_.market(), 5, "7-1.1");
    const auto found = violations();
    EXPECT_NE(found.find("7-1 in audit:inventory:2 stands somewhere else as well"), std::string::npos);
    EXPECT_NE(found.find("items on the market"), std::string::npos);
}

TEST_F(Audit, FindsALostItem) {
    redis_.ask("ZREM", keys_.market(), "8-1.1");
    EXPECT_NE(violations().find("8-1 is nowhere"), std::string::npos);
}

TEST_F(Audit, FindsAnItemNobodyMade) {
    redis_.ask("SADD", keys_.inventory(0), "999999-0");
    redis_.ask("SADD", keys_.inventory(1), "ring");
    const auto found = violations();
    EXPECT_NE(found.find("999999-0 in audit:inventory:0 was never made"), std::string::npos);
    EXPECT_NE(found.find("ring in audit:inventory:1 was never made"), std::string::npos);
}

TEST_F(Audit, FindsACounterThatDisagrees) {
    ++ledgers_[2].bought;
    EXPECT_NE(violations().find("user 2 owns 1 items, but counted 2 purchases"), std::string::npos);
}

TEST_F(Audit, TellsTheFirstFewOfManyViolations) {
    redis_.ask("DEL", keys_.market());
    EXPECT_EQ(audit_market(redis_, keys_, setting_, ledgers_).size(), 10U);
}

}  // namespace
}  // namespace tranca::bench
