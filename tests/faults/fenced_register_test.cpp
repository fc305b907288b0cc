// The register itself: what it refuses, as far as it is told to check, and what it writes down.
#include <gmock/gmock.h>

#include "faults/fenced_register.hpp"
#include "support/temporary_directory.hpp"

namespace tranca::faults_test {
namespace {

using ::testing::Optional;

class FencedRegister : public ::testing::Test {
protected:
    void check(fencing_checks which) {
        register_.emplace(home_ / "socket", home_ / "register.jsonl", which);
        client_.emplace(home_ / "socket");
    }
    [[nodiscard]] std::optional<std::int64_t> read(std::uint64_t fence, std::int64_t slot = 0) {
        return client_->access(access("read", fence, slot, 0));
    }
    [[nodiscard]] std::optional<std::int64_t> write(std::uint64_t fence, std::int64_t value, std::int64_t slot = 0) {
        return client_->access(access("write", fence, slot, value));
    }
    [[nodiscard]] history log() const { return read_history(home_ / "register.jsonl"); }

private:
    static record access(const char* mode, std::uint64_t fence, std::int64_t slot, std::int64_t value) {
        record asked{.process = 7, .operation = op::access, .lock = "a", .attempt = "7.1"};
        asked.mode = mode;
        asked.fence = fence;
        asked.slots = {slot};
        asked.value = value;
        return asked;
    }

    testing::temporary_directory home_;
    std::optional<fenced_register> register_;
    std::optional<register_client> client_;
};

TEST_F(FencedRegister, RefusesWhoeverComesBehindALargerFence) {
    check(fencing_checks::reads_and_writes);
    EXPECT_THAT(write(5, 1), Optional(1));
    EXPECT_THAT(read(6), Optional(1));
    EXPECT_EQ(write(5, 2), std::nullopt);
    EXPECT_EQ(read(5), std::nullopt);
    EXPECT_THAT(write(6, 2), Optional(2));
}

TEST_F(FencedRegister, ThatChecksWritesLetsReadsPass) {
    check(fencing_checks::writes);
    EXPECT_THAT(write(6, 1), Optional(1));
    EXPECT_THAT(read(5), Optional(1));
    EXPECT_EQ(write(5, 2), std::nullopt);
}

TEST_F(FencedRegister, ThatChecksNothingLosesUpdates) {
    check(fencing_checks::off);
    EXPECT_THAT(write(6, 1), Optional(1));
    EXPECT_THAT(write(5, 1), Optional(1));
}

TEST_F(FencedRegister, KeepsAFenceForEachSlot) {
    check(fencing_checks::reads_and_writes);
    EXPECT_THAT(write(9, 4, 0), Optional(4));
    EXPECT_THAT(write(5, 1, 1), Optional(1));
    EXPECT_THAT(read(9, 0), Optional(4));
}

TEST_F(FencedRegister, WritesDownEveryAccessWithItsVerdict) {
    check(fencing_checks::reads_and_writes);
    static_cast<void>(write(6, 1));
    static_cast<void>(read(5));
    const auto all = log();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].phase, phase::ok);
    EXPECT_EQ(all[0].attempt, "7.1");
    EXPECT_EQ(all[1].phase, phase::failed);
    EXPECT_GT(all[1].time, all[0].time);
}

}  // namespace
}  // namespace tranca::faults_test
