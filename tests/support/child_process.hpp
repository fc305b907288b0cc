// child_process: runs a function in a forked process.
//
//     child_process holder{[&] { client redis{url}; auto held = px_lock{redis, "a"}.acquire(); barrier.wait(); }};
//     holder.kill_hard();
//     EXPECT_EQ(holder.wait(2s), exited(0));
//
// The function may return a status. An exception ends the child with status 101 and its text on stderr, a failed EXPECT
// with 102. The child ends by _exit, so that it destroys nothing it inherited; it is killed when its parent dies. Start
// children before threads where you can: only the calling thread lives on in the child.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "support/process.hpp"
#include "support/socket.hpp"

namespace tranca::testing {

enum class child_output { shown, captured };

class child_process {
public:
    static constexpr int threw = 101;
    static constexpr int failed = 102;

    template <typename Body>
    explicit child_process(Body body, child_output where = child_output::shown)
        : child_process{std::function<int()>{[body = std::move(body)]() mutable {
                            if constexpr (std::is_void_v<std::invoke_result_t<Body&>>) {
                                body();
                                return 0;
                            } else {
                                return static_cast<int>(body());
                            }
                        }},
                        where} {}
    child_process(std::function<int()> body, child_output where);

    void freeze() { process_.freeze(); }  // SIGSTOP; returns when it stands still
    void resume() { process_.resume(); }  // SIGCONT
    void signal(int number) { process_.signal(number); }
    exit_status kill_hard() { return process_.kill_hard(); }
    std::optional<exit_status> wait(std::chrono::milliseconds limit) { return process_.wait(limit); }
    [[nodiscard]] bool running() { return process_.running(); }
    [[nodiscard]] pid_t pid() const { return process_.pid(); }
    [[nodiscard]] std::string text() const;  // captured stdout and stderr so far

private:
    unique_fd output_;
    process process_;
};

[[nodiscard]] inline std::optional<exit_status> exited(int code) {
    return exit_status{.by_signal = false, .code = code};
}
[[nodiscard]] inline std::optional<exit_status> killed(int number) {
    return exit_status{.by_signal = true, .code = number};
}

}  // namespace tranca::testing
