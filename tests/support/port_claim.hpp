// claim_port: keeps tests that run side by side away from each other's ports, also while nobody listens there.
//
//     if (claim_port(port) && is_free(port)) return port;
//
// A server that a test has killed still has clients and neighbours who try to reach it: another test's server at its port would
// hear them, and they it. A claim lasts as long as the process that made it; what it leaves behind is a small file.
#pragma once

#include <cstdint>

namespace tranca::testing {

// False: another process has it, or this one had it before.
[[nodiscard]] bool claim_port(std::uint16_t port);

}  // namespace tranca::testing
