#pragma once

// Tells a process from its children.
//
//     const auto mine = fork_generation();      // later, perhaps in a child:
//     if (mine != fork_generation()) return;    // what I made belongs to the parent
//
// Promises: the number differs in every child made by fork(); sockets made here are closed in the child at once, without a
// byte sent, so that a dead parent's connections do not live on in it.
// Does not promise to notice clone() or vfork() made by hand.

#include <cstdint>

namespace tranca {

/// Changes in a child after fork(). One atomic load.
[[nodiscard]] std::uint64_t fork_generation() noexcept;

/// Makes a stream socket, non-blocking, that a child closes. -1, and errno, on failure. One step as far as a fork is
/// concerned.
[[nodiscard]] int open_socket(int family);

/// Closes it and forgets it, in one step as far as a fork is concerned.
void close_socket(int descriptor) noexcept;

}  // namespace tranca
