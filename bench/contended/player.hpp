#pragma once

// A lock in the hands of one worker.
//
//     const auto lock = make_player("mutex", redis, "name");
//     lock->acquire();
//     lock->release();
//
// Throws when the lock was not ours at its release. Not thread-safe.

#include <cstdint>
#include <memory>
#include <string>

#include <tranca/client.hpp>

namespace tranca::bench {

class player {
public:
    virtual ~player() = default;

    /// Waits for as long as it takes.
    virtual void acquire() = 0;
    virtual void release() = 0;

    /// Connects, and does once whatever is done only once.
    virtual void warm_up() {
        acquire();
        release();
    }
};

/// How many a contested semaphore admits.
inline constexpr std::int64_t contested_permits = 5;

/// "mutex", "semaphore", and either with " in line", for fairness: through the client, which must outlive it. "raw": over a
/// connection of its own.
[[nodiscard]] std::unique_ptr<player> make_player(const std::string& primitive, const client& redis,
                                                  const std::string& name);

}  // namespace tranca::bench
