#pragma once

// What the library tells when there is nobody to throw at: destructors, timers, cleaning up.
//
//     tranca::client_options options;
//     options.on_event = [](const tranca::event& e) { log(e.what, e.key, e.detail); };
//
// Promises: called at most once per happening, never with an internal lock held; no password and no token in any text.
// Does not promise a thread: it may be any that uses the library, so the sink must be thread-safe and quick. What it
// throws is dropped.

#include <string_view>

namespace tranca {

/// Something worth knowing about one key. The views are valid during the call only.
struct event {
    enum class kind {
        release_expired,  ///< A release found nothing: the lease had ended before.
        release_taken,    ///< A release found another owner's key, and left it alone.
        release_unknown,  ///< A release got no answer; the key goes at the end of its ttl.
        lease_lost,       ///< A lease ended, or was found ended, while its guard still held it.
        undo_failed,      ///< An acquire of unknown outcome could not be undone.
    };

    kind what;
    std::string_view key;
    std::string_view detail;
};

/// The name of a kind, for logs: "release_expired". Pure.
[[nodiscard]] std::string_view to_string(event::kind what) noexcept;

}  // namespace tranca
