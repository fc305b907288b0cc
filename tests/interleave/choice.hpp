// choice: what happens next in a schedule, and its short name, by which a schedule can be written down and replayed.
//
//     A   client A goes on until it is about to send again      A~  the same, but its answer is lost
//     A!  client A crashes                                      A.  its own timer ends its wait
//     A?  it is told to stop while it waits                     A*  it freezes while it waits: its connection stays
//     x   time passes: a lease ends                             f   SCRIPT FLUSH
//     A^  its connection breaks before it sends
//     A>  it sends, and hears with its next step: by then time has passed, and its lease has ended
//     A&B a step of each: both requests lie there when the server comes to look, A's in front
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tranca::interleave {

struct choice {
    enum class kind {
        step,
        lost_reply,
        crash,
        timer,
        stop,
        freeze,
        together,
        lost_request,
        late,
        expiry,
        script_flush
    };

    kind what{kind::step};
    std::size_t client{0};  // of no meaning for the last two
    std::size_t other{0};   // the second of two together

    [[nodiscard]] bool is_of_server() const { return what == kind::expiry || what == kind::script_flush; }
    friend bool operator==(const choice&, const choice&) = default;
};

using choices = std::vector<choice>;

[[nodiscard]] std::string text(const choice& one);
[[nodiscard]] std::string text(const choices& all);  // "A B A~ x"

// Throws std::invalid_argument for what is none.
[[nodiscard]] choices parse_choices(std::string_view all);

}  // namespace tranca::interleave
