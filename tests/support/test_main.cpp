// The main() of every test binary: prints the seed, then runs the tests. Changes no signal action and no global
// setting.
#include <gmock/gmock.h>

#include <iostream>

#include "support/seed.hpp"

// Tests fork children that start threads; under the thread sanitizer that is refused unless one asks for it.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }  // NOLINT: the sanitizer's own name

int main(int argc, char** argv) {
    ::testing::InitGoogleMock(&argc, argv);
    if (!::testing::GTEST_FLAG(list_tests)) {
        std::cout << "seed " << tranca::testing::seed() << " (TRANCA_TEST_SEED repeats it)" << std::endl;
    }
    return RUN_ALL_TESTS();
}
