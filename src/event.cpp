#include <tranca/event.hpp>

namespace tranca {

std::string_view to_string(event::kind what) noexcept {
    switch (what) {
    case event::kind::release_expired: return "release_expired";
    case event::kind::release_taken: return "release_taken";
    case event::kind::release_unknown: return "release_unknown";
    case event::kind::lease_lost: return "lease_lost";
    case event::kind::undo_failed: return "undo_failed";
    case event::kind::acquired: return "acquired";
    case event::kind::busy: return "busy";
    case event::kind::released: return "released";
    case event::kind::renewed: return "renewed";
    case event::kind::in_doubt: return "in_doubt";
    case event::kind::spurious_wakeup: return "spurious_wakeup";
    }
    return "unknown";
}

}  // namespace tranca
