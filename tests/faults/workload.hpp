// workload: what one client of the fault programme does, whatever the primitive.
//
//     workload load{{.kind = "semaphore", .urls = {url}, .limit = 3}};
//     auto held = load.next(random).acquire(20ms);
//
// Kinds: mutex, fair (a mutex with a line), semaphore, shared, multi, quorum, quorum_firm (one more
// confirmation); of the ladder, whose flaws must be found: naive, px, clock_semaphore.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <tranca/tranca.hpp>

namespace tranca::faults_test {

/// How it goes on. dense: always somebody there. sparse: all at once, then nobody for a while, so that a lost wake-up is not
/// made good by who comes next. brief: a new name each moment, one attempt each, for the search of C9.
enum class pace { dense, sparse, brief };

struct workload_settings {
    std::string kind{"mutex"};
    std::vector<std::string> urls{};
    std::string file{};      // history
    std::string resource{};  // socket of the register; empty: none
    std::uint64_t seed{1};
    std::int64_t client{0};
    std::int64_t threads{1};
    milliseconds ttl{400};
    milliseconds wait{100};
    milliseconds hold{4};  // at most, inside
    std::int64_t limit{1};
    faults_test::pace pace{faults_test::pace::dense};
    std::string broken{};  // what this client does wrong on purpose
};

/// From words like "kind=mutex". Throws std::runtime_error for one that is not known.
[[nodiscard]] workload_settings settings_from(const std::vector<std::string>& words);
[[nodiscard]] std::vector<std::string> words_of(const workload_settings& settings);

/// One acquisition to come.
struct acquisition {
    std::vector<std::string> names;  // one, but for several names at once
    bool shared{false};
    std::function<std::optional<guard>(milliseconds)> acquire;
};

/// Thread-safe.
class workload {
public:
    explicit workload(const workload_settings& settings);

    [[nodiscard]] acquisition next(std::mt19937_64& random) const;
    [[nodiscard]] const client& redis() const { return clients_.front(); }

private:
    using maker = std::function<acquisition(const std::string&, std::mt19937_64&)>;

    [[nodiscard]] std::map<std::string, maker> makers() const;
    [[nodiscard]] lease_options lease() const;
    [[nodiscard]] std::string name() const;
    [[nodiscard]] acquisition several(std::mt19937_64& random) const;

    workload_settings settings_;
    std::vector<client> clients_;
    std::optional<quorum_mutex> quorum_;
    maker make_;
};

}  // namespace tranca::faults_test
