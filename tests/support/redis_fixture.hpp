// redis_fixture: the base of tests that need an empty server.
//
//     using Mutex = redis_fixture;
//     TEST_F(Mutex, IsFreeAfterRelease) { client redis{server.url()}; ... EXPECT_EQ(raw.exists("lock:a"), 0); }
//
// The server is the one of the test binary, emptied before each test.
#pragma once

#include <gtest/gtest.h>

#include "support/raw_client.hpp"
#include "support/redis_server.hpp"

namespace tranca::testing {

class redis_fixture : public ::testing::Test {
protected:
    redis_server& server{fresh()};
    raw_client raw{server.raw()};
};

}  // namespace tranca::testing
