#pragma once

// The scripts of this library, by name. Their text is in src/lua, one file each; line 1 says what goes in and out.
//
//     auto answer = tranca::run(*pool, tranca::scripts::release_lock().call({name}, mine));
//
// Promises: each stays one object for the life of the process, so that its hash is learned once.

#include <tranca/script.hpp>

namespace tranca::scripts {

/// Compare and delete: 1 released, 0 no lock, -1 another owner's.
[[nodiscard]] const repeatable_script& release_lock();

/// Compare and set the ttl: 1 set, 0 no lock, -1 another owner's.
[[nodiscard]] const repeatable_script& extend_lock();

/// Compare: 1 ours, 0 no lock, -1 another owner's.
[[nodiscard]] const repeatable_script& check_lock();

/// Takes a holder out of a semaphore's sets: 1 released, 0 was not a holder.
[[nodiscard]] const repeatable_script& release_slot();

/// Sets a holder's time, if it is still a holder: 1 set, 0 is not a holder.
[[nodiscard]] const repeatable_script& refresh_slot();

/// One attempt to take a mutex, with a fence: see src/lua/acquire_mutex.lua for the reply.
[[nodiscard]] const repeatable_script& acquire_mutex();

/// The same without a fence.
[[nodiscard]] const repeatable_script& acquire_unfenced();

/// Compare and delete, and wake one waiter if it is free now: 1 released, 0 no lock, -1 another owner's.
[[nodiscard]] const repeatable_script& release_mutex();

/// Compare and set the ttl of a mutex: 1 set, 0 no lock, -1 another owner's.
[[nodiscard]] const repeatable_script& extend_mutex();

/// One attempt to take permits of a semaphore: see src/lua/acquire_permits.lua for the reply.
[[nodiscard]] const repeatable_script& acquire_permits();

/// Gives a holder's permits back and wakes as many waiters: 1 released, 0 it held nothing any more.
[[nodiscard]] const repeatable_script& release_permits();

/// Sets a holder's time, if it is still a holder: 1 set, 0 its time is over.
[[nodiscard]] const repeatable_script& extend_permits();

/// Sets a semaphore's limit: 1.
[[nodiscard]] const repeatable_script& limit_permits();

/// How many permits are free, and who holds the others: see src/lua/list_permits.lua for the reply.
[[nodiscard]] const repeatable_script& list_permits();

/// Writes a value unless a newer fence was there: 1 written, 0 refused.
[[nodiscard]] const repeatable_script& fenced_write();

/// Reads a value and raises its fence: {value}, {} or, refused, 0.
[[nodiscard]] const repeatable_script& fenced_read();

}  // namespace tranca::scripts
