// fenced_register: the resource that locks protect, as a server of its own that has nothing to do with Redis.
//
//     fenced_register resource{"/tmp/run/register.sock", "/tmp/run/register.jsonl", fencing_checks::reads_and_writes};
//     register_client mine{"/tmp/run/register.sock"};          // in another process
//     mine.access({.operation = op::access, .lock = "a", .attempt = "17.1", .mode = "read", .fence = 5});
//
// Keeps a value and the largest fence for each lock (for each slot of a semaphore), refuses smaller ones as far as it is
// told to check them, and writes every access down with its own time and verdict: the truth that no client can bend.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "faults/history.hpp"
#include "support/socket.hpp"

namespace tranca::faults_test {

enum class fencing_checks { off, writes, reads_and_writes };

class fenced_register {
public:
    fenced_register(const std::filesystem::path& socket, const std::filesystem::path& file, fencing_checks checks);

private:
    struct cell {
        std::uint64_t fence{0};
        std::int64_t value{0};
    };

    void serve(const std::stop_token& stop);
    [[nodiscard]] bool answer(const testing::unique_fd& client);  // false: it has gone
    [[nodiscard]] bool refuses(const record& asked, const cell& kept) const;

    history_writer log_;
    fencing_checks checks_;
    testing::unique_fd listener_;
    std::map<std::pair<std::string, std::int64_t>, cell> cells_;
    std::vector<testing::unique_fd> clients_;
    std::jthread thread_;
};

class register_client {
public:
    explicit register_client(const std::filesystem::path& socket);

    /// The value after the access, or nothing: refused.
    [[nodiscard]] std::optional<std::int64_t> access(const record& what) const;

private:
    testing::unique_fd socket_;
};

}  // namespace tranca::faults_test
