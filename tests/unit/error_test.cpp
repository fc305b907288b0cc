// The exception type and its codes.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <tranca/error.hpp>

namespace tranca::testing {
namespace {

using ::testing::HasSubstr;

const std::vector<errc> every_code{errc::invalid_argument, errc::invalid_url,    errc::connect_failed,
                                   errc::tls_failed,       errc::timeout,        errc::connection_lost,
                                   errc::protocol,         errc::authentication, errc::no_permission,
                                   errc::wrong_type,       errc::out_of_memory,  errc::read_only,
                                   errc::loading,          errc::busy_script,    errc::try_again,
                                   errc::cluster_down,     errc::master_down,    errc::no_replicas,
                                   errc::misconf,          errc::moved,          errc::ask,
                                   errc::no_script,        errc::unblocked,      errc::max_clients,
                                   errc::server,           errc::stopped,        errc::lease_lost,
                                   errc::limit_differs,    errc::forked,         errc::unknown_master,
                                   errc::too_few_replicas};

const std::set<errc> passing{errc::out_of_memory, errc::read_only,    errc::loading,     errc::busy_script,
                             errc::try_again,     errc::cluster_down, errc::master_down, errc::no_replicas,
                             errc::misconf,       errc::unblocked,    errc::max_clients};

static_assert(std::is_error_code_enum_v<errc>);
static_assert(std::is_base_of_v<std::system_error, error>);
static_assert(std::is_base_of_v<error, lease_lost>);
static_assert(std::is_nothrow_copy_constructible_v<error>, "an exception that throws while it is thrown terminates");
static_assert(!std::is_convertible_v<int, errc>);

TEST(Errc, IsNeverZeroWhichWouldMeanSuccess) {
    for (const auto code : every_code)
        EXPECT_TRUE(make_error_code(code)) << static_cast<int>(code);
}

TEST(Errc, HasATextOfItsOwnForEveryCode) {
    std::set<std::string> texts;
    for (const auto code : every_code)
        texts.insert(make_error_code(code).message());
    EXPECT_EQ(texts.size(), every_code.size());
    EXPECT_EQ(texts.count("unknown error"), 0U);
}

TEST(Errc, TextOfANumberThatIsNoCodeSaysSo) {
    EXPECT_EQ(error_category().message(0), "unknown error");
    EXPECT_EQ(error_category().message(static_cast<int>(every_code.size()) + 1), "unknown error");
}

TEST(Errc, IsTemporaryOnlyForServerStatesThatPass) {
    for (const auto code : every_code)
        EXPECT_EQ(is_temporary(code), passing.contains(code)) << make_error_code(code).message();
}

TEST(ErrorCategory, IsNamedAfterTheLibrary) {
    EXPECT_STREQ(error_category().name(), "tranca");
    EXPECT_EQ(&make_error_code(errc::timeout).category(), &error_category());
}

TEST(Error, ComparesWithItsCodeAndNoOther) {
    const error failure{errc::timeout, "GET \"a\""};
    for (const auto code : every_code)
        EXPECT_EQ(failure.code() == code, code == errc::timeout);
    EXPECT_EQ(failure.reason(), errc::timeout);
    EXPECT_NE(failure.code(), std::errc::timed_out);
}

TEST(Error, SaysWhatWasDoneAndWhatItMeans) {
    const error failure{errc::no_replicas, "SET \"lock:a\" on redis://h:1: NOREPLICAS Not enough good replicas"};
    EXPECT_EQ(failure.text(), "SET \"lock:a\" on redis://h:1: NOREPLICAS Not enough good replicas");
    EXPECT_THAT(failure.what(), HasSubstr(failure.text()));
    EXPECT_THAT(failure.what(), HasSubstr(make_error_code(errc::no_replicas).message()));
}

TEST(Error, IsInDoubtOnlyWhenSaid) {
    EXPECT_FALSE((error{errc::timeout, "x"}.in_doubt()));
    EXPECT_FALSE((error{errc::timeout, "x", effect::none}.in_doubt()));
    EXPECT_TRUE((error{errc::timeout, "x", effect::in_doubt}.in_doubt()));
}

TEST(Error, IsTemporaryAsItsCodeIs) {
    for (const auto code : every_code)
        EXPECT_EQ((error{code, "x"}.temporary()), is_temporary(code));
}

TEST(Error, KeepsEverythingInACopy) {
    const auto original = std::make_unique<error>(errc::moved, "GET", effect::in_doubt);
    const error copy = *original;
    EXPECT_EQ(copy.text(), "GET");
    EXPECT_EQ(copy.code(), errc::moved);
    EXPECT_TRUE(copy.in_doubt());
}

TEST(Error, IsCaughtAsTheStandardOne) {
    try {
        throw error{errc::protocol, "reading"};
    } catch (const std::system_error& failure) {
        EXPECT_EQ(failure.code(), make_error_code(errc::protocol));
    }
}

TEST(LeaseLost, IsAnErrorWithItsOwnCode) {
    try {
        throw lease_lost{"lock:a"};
    } catch (const error& failure) {
        EXPECT_EQ(failure.code(), errc::lease_lost);
        EXPECT_EQ(failure.text(), "lock:a");
        EXPECT_FALSE(failure.temporary());
    }
}

}  // namespace
}  // namespace tranca::testing
