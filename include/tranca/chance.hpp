#pragma once

// A number from 0 to 1, another one each time, in every thread and every process: what keeps a crowd from moving in step.
//
//     auto slice = tranca::wait_slice(busy_for, ttl, tranca::chance());
//
// Does not promise that it cannot be guessed; a token is made otherwise. Thread-safe.

namespace tranca {

/// See the top of this file. No I/O but, the first time in a thread, some bytes of the system's entropy.
[[nodiscard]] double chance();

}  // namespace tranca
