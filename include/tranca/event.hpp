#pragma once

// What happens to locks, for whoever counts or logs it.
//
//     tranca::client_options options;
//     options.on_event = [](const tranca::event& e) { log(e.what, e.key, e.detail); };   // what went wrong, and only that
//     options.sink = std::make_shared<tranca::counters>();                               // everything
//
// Promises: called at most once per happening, never with an internal lock held; no password and no token in any text.
// Does not promise a thread: it may be any that uses the library, so a sink must be thread-safe and quick. What
// on_event throws is dropped.

#include <chrono>
#include <string_view>

namespace tranca {

/// Something worth knowing about one key. The views are valid during the call only.
struct event {
    enum class kind {
        // What goes wrong where there is nobody to throw at: also told to client_options::on_event.
        release_expired,  ///< A release found nothing: the lease had ended before.
        release_taken,    ///< A release found another owner's key, and left it alone.
        release_unknown,  ///< A release got no answer; the key goes at the end of its ttl.
        lease_lost,       ///< A lease ended, or was found ended, while its guard still held it.
        undo_failed,      ///< An acquire of unknown outcome could not be undone.
        // What else happens: told to client_options::sink only.
        acquired,         ///< An acquisition; `elapsed` is how long its caller waited for it.
        busy,             ///< A caller's time ended before it was granted; `elapsed` is how long it waited.
        released,         ///< A release of what was still held; `elapsed` is how long it was held.
        renewed,          ///< The keeper renewed a lease.
        in_doubt,         ///< An acquire failed and it is not known whether it took effect.
        spurious_wakeup,  ///< A waiter was woken and found the lock taken by somebody else.
    };

    kind what;
    std::string_view key;
    std::string_view detail{};
    std::chrono::nanoseconds elapsed{0};
};

/// True for what goes wrong, which is what client_options::on_event is told of. Pure.
[[nodiscard]] constexpr bool is_failure(event::kind what) noexcept { return what <= event::kind::undo_failed; }

/// The name of a kind, for logs: "release_expired". Pure.
[[nodiscard]] std::string_view to_string(event::kind what) noexcept;

/// Told of everything that happens to the locks of a client. Must be thread-safe and quick.
class event_sink {
public:
    virtual ~event_sink() = default;
    virtual void on(const event& happening) noexcept = 0;
};

}  // namespace tranca
