// history: what clients and the nemesis did, one JSON object a line, by the one monotonic clock of a machine.
//
//     history_writer mine{"/tmp/run/3.jsonl"};                    // O_APPEND, one write a record: kill -9 loses nothing
//     mine.write({.operation = op::acquire, .phase = phase::invoked, .lock = "a", .attempt = "17.1"});
//     const history all = read_histories("/tmp/run");             // of all processes, in the order of time
//
// An invocation is written before anything is sent, also of a release; the outcome after the answer was read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/socket.hpp"

namespace tranca::faults_test {

/// What was done. access: of the fenced register, told by itself. residue: a key found when all was over.
enum class op { acquire, release, extend, check, access, nemesis, residue };

/// failed: surely not done (busy, lost, refused). unknown: nobody knows.
enum class phase { invoked, ok, failed, unknown };

/// Nanoseconds of the steady clock, which all processes of a machine share.
using instant = std::int64_t;

[[nodiscard]] instant now();

/// One line. What does not apply stays as it is and is not written.
struct record {
    instant time{0};
    std::int64_t process{0};
    std::int64_t client{0};
    op operation{op::nemesis};
    faults_test::phase phase{phase::ok};
    std::string lock{};
    std::string attempt{};              // one acquisition, its extensions and its release; of a nemesis: its kind
    std::string mode{};                 // "shared", or empty: alone; of an access: "read" or "write"
    std::uint64_t fence{0};             // 0: none
    std::vector<std::int64_t> slots{};  // of a semaphore; of an access: the one it is about
    std::int64_t lease{0};              // ms; of a residue: the ttl found, -1 for none
    std::int64_t wait{0};               // ms, how long an acquire may take
    instant valid_until{0};             // the guard's own word
    std::int64_t wall{0};               // microseconds since 1970, when a fence was read
    std::int64_t value{0};              // of an access
    std::int64_t target{0};             // process a nemesis was after
    std::string why{};
};

using history = std::vector<record>;

/// Appends to a file of its own. One system call a record.
class history_writer {
public:
    explicit history_writer(const std::filesystem::path& file);

    /// Fills in time (unless it is set) and process.
    void write(record what) const;

private:
    testing::unique_fd file_;
};

[[nodiscard]] std::string to_line(const record& what);

/// Throws std::runtime_error with the line for what is no record.
[[nodiscard]] record from_line(const std::string& line);

/// A last line without its end is left out: its writer was killed in the middle of it.
[[nodiscard]] history read_history(const std::filesystem::path& file);

/// All *.jsonl of a folder, in the order of time.
[[nodiscard]] history read_histories(const std::filesystem::path& folder);

}  // namespace tranca::faults_test
