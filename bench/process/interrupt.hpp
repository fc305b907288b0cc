#pragma once

// Ctrl-C, SIGTERM and a closed terminal turned into a question that the benchmark asks between two steps.
//
// The first signal sets the answer to yes; the signal's default action is restored by it, so that a second one
// ends the process at once (its children die with it). Children call interrupt::ignore_in_child(): the terminal
// sends Ctrl-C to the whole group, but only the parent decides what ends when.

namespace tranca::bench::interrupt {

void install();
[[nodiscard]] bool requested() noexcept;
[[nodiscard]] int signal_number() noexcept;  // 0 as long as none came
void ignore_in_child() noexcept;

}  // namespace tranca::bench::interrupt
