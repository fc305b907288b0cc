#pragma once

// Which cores the benchmark's processes run on. Placement outweighs any library: a round trip between two processes
// on one core and one between two cores differ several times over, so every measurement says where it ran.

#include <sys/types.h>

#include <vector>

namespace tranca::bench {

using cores = std::vector<int>;

// The cores this process may use, before anything was pinned.
[[nodiscard]] cores usable_cores();

// Restricts a process (0: the caller) to these cores; false when the system refuses.
bool pin(pid_t process, const cores& where) noexcept;

}  // namespace tranca::bench
