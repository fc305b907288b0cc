#pragma once

// A seam for tests: whoever is installed here decides when a connection goes on, and whether its answer comes.
//
//     class scheduler : public tranca::exchange_hook { fate before_send(...) override; wait before_wait(...) override; };
//     tranca::exchange_hook::install(&scheduler);
//
// Promises: asked on the thread that uses the connection, before a byte of a request is written, when all of it has been, and
// before a wait for the end of a block; it may take its time. With nobody installed - outside of tests, always - a connection
// pays one relaxed load for a request, and one for such a wait.
// Does not promise to be asked where an answer is read: it comes without anybody's doing.
// Not installed with the library: only its own tests see this header.

#include <atomic>

namespace tranca {

class connection;
class request;

/// See the top of this file.
class exchange_hook {
public:
    /// What becomes of a request.
    enum class fate {
        answered,    ///< As without a hook.
        unanswered,  ///< The server runs it, then the connection is lost.
        refused,     ///< Nothing is sent, as in a child after fork(): the client does nothing any more.
    };

    /// How a wait for an answer ends.
    enum class wait {
        by_itself,    ///< As without a hook.
        ready,        ///< Something is there.
        timed_out,    ///< The waiter's own timer.
        interrupted,  ///< A stop request.
        broken,       ///< The connection is lost, with what may be there.
    };

    [[nodiscard]] virtual fate before_send(const connection& redis, const request& commands) = 0;
    virtual void after_send(const connection& redis) = 0;
    [[nodiscard]] virtual wait before_wait(const connection& redis) noexcept = 0;

    /// Not while a connection is in use. nullptr: nobody.
    static void install(exchange_hook* hook) noexcept { installed_.store(hook, std::memory_order_relaxed); }
    [[nodiscard]] static exchange_hook* installed() noexcept { return installed_.load(std::memory_order_relaxed); }

protected:
    ~exchange_hook() = default;

private:
    static inline constinit std::atomic<exchange_hook*> installed_{nullptr};
};

}  // namespace tranca
