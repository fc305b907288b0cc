#include "support/fault.hpp"

#include <gtest/gtest.h>

#include <exception>

namespace tranca::testing {

fault::~fault() {
    try {
        end();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "a fault could not be undone: " << error.what();
    }
}

void fault::end() {
    if (const auto undo = std::exchange(undo_, nullptr)) {
        undo();
    }
}

}  // namespace tranca::testing
