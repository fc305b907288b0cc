#pragma once

// Everything: locks and semaphores on Redis.
//
//     tranca::client redis{"redis://localhost:6379"};
//     tranca::ladder::px_lock lock{redis, "invoices"};
//     tranca::with(lock, [&] { write_invoice(); });

#include <tranca/acquirable.hpp>
#include <tranca/client.hpp>
#include <tranca/cluster_endpoint.hpp>
#include <tranca/counters.hpp>
#include <tranca/error.hpp>
#include <tranca/fenced.hpp>
#include <tranca/guard.hpp>
#include <tranca/hash_slot.hpp>
#include <tranca/keeper.hpp>
#include <tranca/ladder/clock_semaphore.hpp>
#include <tranca/ladder/fair_semaphore.hpp>
#include <tranca/ladder/guarded_semaphore.hpp>
#include <tranca/ladder/naive_lock.hpp>
#include <tranca/ladder/px_lock.hpp>
#include <tranca/ladder/timeout_lock.hpp>
#include <tranca/lock_state.hpp>
#include <tranca/lockable.hpp>
#include <tranca/multi_mutex.hpp>
#include <tranca/mutex.hpp>
#include <tranca/quorum_mutex.hpp>
#include <tranca/semaphore.hpp>
#include <tranca/sentinel_endpoint.hpp>
#include <tranca/shared_mutex.hpp>
#include <tranca/with.hpp>
