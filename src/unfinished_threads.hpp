#pragma once

// Threads of the library's own that are in the middle of something when their owner goes: it does not wait for them, but the end
// of the process does, since they would meet what is destroyed then.
//
//     unfinished_threads::of_this_process().add(std::move(runner), ended);   // *ended: it has left its work
//
// Promises: those that have ended are cleared away with the next one. In a child after fork() there are none.
// Does not promise that they end: their work must be bounded in time.
// Thread safety: full.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "fork_guard.hpp"

namespace tranca {

class unfinished_threads {
public:
    [[nodiscard]] static unfinished_threads& of_this_process() {
        static unfinished_threads all;
        return all;
    }

    void add(std::thread thread, std::shared_ptr<const std::atomic<bool>> ended) {
        const std::lock_guard lock{mutex_};
        std::erase_if(all_, [](one& each) {
            if (!*each.ended && each.generation == fork_generation()) return false;
            finish(each);
            return true;
        });
        all_.push_back({std::move(thread), std::move(ended), fork_generation()});
    }

    ~unfinished_threads() {
        for (auto& each : all_)
            finish(each);
    }

private:
    struct one {
        std::thread thread;
        std::shared_ptr<const std::atomic<bool>> ended;
        std::uint64_t generation;
    };

    static void finish(one& each) {
        if (each.generation == fork_generation()) each.thread.join();
        else each.thread.detach();  // it ran in the parent
    }

    std::mutex mutex_;
    std::vector<one> all_;
};

}  // namespace tranca
