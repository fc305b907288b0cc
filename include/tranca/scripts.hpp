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

/// The same two for those who wait in line: see src/lua/acquire_fair_mutex.lua.
[[nodiscard]] const repeatable_script& acquire_fair_mutex();
[[nodiscard]] const repeatable_script& release_fair_mutex();

/// Compare and set the ttl of a mutex: 1 set, 0 no lock, -1 another owner's.
[[nodiscard]] const repeatable_script& extend_mutex();

/// One attempt to take permits of a semaphore: see src/lua/acquire_permits.lua for the reply.
[[nodiscard]] const repeatable_script& acquire_permits();

/// Gives a holder's permits back and wakes as many waiters: 1 released, 0 it held nothing any more.
[[nodiscard]] const repeatable_script& release_permits();

/// The same two for those who wait in line: see src/lua/acquire_fair_permits.lua.
[[nodiscard]] const repeatable_script& acquire_fair_permits();
[[nodiscard]] const repeatable_script& release_fair_permits();

/// Sets a holder's time, if it is still a holder: 1 set, 0 its time is over.
[[nodiscard]] const repeatable_script& extend_permits();

/// Sets a semaphore's limit: 1.
[[nodiscard]] const repeatable_script& limit_permits();

/// How many permits are free, and who holds the others: see src/lua/list_permits.lua for the reply.
[[nodiscard]] const repeatable_script& list_permits();

/// One attempt to take several names at once: see src/lua/acquire_multi.lua for the reply.
[[nodiscard]] const repeatable_script& acquire_multi();

/// Gives names that are held a larger fence: 1 given, 0 they are not all ours any more.
[[nodiscard]] const repeatable_script& raise_multi();

/// Compare and delete, each of several names: 1 all released, 0 one was gone, -1 one is another owner's.
[[nodiscard]] const repeatable_script& release_multi();

/// Compare and set the ttl of several names, all or none: 1 set, 0 one is gone, -1 one is another owner's.
[[nodiscard]] const repeatable_script& extend_multi();
/// One attempt to take a readers/writer lock, as reader or writer: see src/lua/acquire_shared.lua for the reply.
[[nodiscard]] const repeatable_script& acquire_shared();

/// Gives a reader's or a writer's hold back and wakes who is next: 1 released, 0 it held nothing any more, -1 and a writer
/// holds it.
[[nodiscard]] const repeatable_script& release_shared();

/// Sets a reader's or a writer's time: 1 set, 0 its time is over, -1 and a writer holds it.
[[nodiscard]] const repeatable_script& extend_shared();

/// Makes the only reader the writer: see src/lua/upgrade_shared.lua for the reply.
[[nodiscard]] const repeatable_script& upgrade_shared();

/// Makes the writer a reader, or undoes an upgrade: see src/lua/downgrade_shared.lua for the reply.
[[nodiscard]] const repeatable_script& downgrade_shared();

/// Who holds a readers/writer lock: see src/lua/list_shared.lua for the reply.
[[nodiscard]] const repeatable_script& list_shared();

/// One vote on a lock of a quorum, with the fence a client proposes: see src/lua/acquire_quorum.lua for the reply.
[[nodiscard]] const repeatable_script& acquire_quorum();

/// Compare and delete: 1 released, 0 no lock, -1 another owner's.
[[nodiscard]] const repeatable_script& release_quorum();

/// Stores a larger fence with a lock that is held: 1 stored, 0 not ours, or not larger.
[[nodiscard]] const repeatable_script& raise_quorum();

/// Writes a value unless a newer fence was there: 1 written, 0 refused.
[[nodiscard]] const repeatable_script& fenced_write();

/// Reads a value and raises its fence: {value}, {} or, refused, 0.
[[nodiscard]] const repeatable_script& fenced_read();

}  // namespace tranca::scripts
