#include <gmock/gmock.h>

#include <string>

#include <tranca/server_features.hpp>

namespace tranca::testing {
namespace {

const std::string nothing = "*0\r\n";
const std::string neither = "*2\r\n$-1\r\n$-1\r\n";

server_features told(const std::string& docs, const std::string& info) {
    return features_from(reply::parse(docs), reply::parse(info));
}

TEST(ServerFeatures, OfAServerThatDoesNotTellAreNone) {
    for (const auto& docs : {nothing, std::string{"-ERR unknown subcommand\r\n"}, std::string{"$-1\r\n"}})
        for (const auto& info : {neither, nothing, std::string{"-NOPERM no\r\n"}, std::string{"*2\r\n*0\r\n*0\r\n"}}) {
            const auto found = told(docs, info);
            EXPECT_FALSE(found.set_nx_get || found.if_equal || found.delex || found.delifeq);
        }
}

TEST(ServerFeatures, AreFoundHoweverDeepTheyStand) {
    const std::string arguments = "*2\r\n$9\r\narguments\r\n*1\r\n*2\r\n$5\r\ntoken\r\n$4\r\nIFEQ\r\n";
    EXPECT_TRUE(told("*2\r\n$3\r\nset\r\n" + arguments, neither).if_equal);
    const std::string history = "Allowed the `NX` and `GET` options to be used together.";
    const auto docs = "*2\r\n$3\r\nset\r\n*1\r\n$" + std::to_string(history.size()) + "\r\n" + history + "\r\n";
    EXPECT_TRUE(told(docs, neither).set_nx_get);
    EXPECT_FALSE(told(docs, neither).if_equal);
}

TEST(ServerFeatures, OfCommandsAreToldOneByOne) {
    EXPECT_TRUE(told(nothing, "*2\r\n*1\r\n$5\r\ndelex\r\n$-1\r\n").delex);
    EXPECT_FALSE(told(nothing, "*2\r\n*1\r\n$5\r\ndelex\r\n$-1\r\n").delifeq);
    EXPECT_TRUE(told(nothing, "*2\r\n$-1\r\n*1\r\n$7\r\ndelifeq\r\n").delifeq);
}

}  // namespace
}  // namespace tranca::testing
