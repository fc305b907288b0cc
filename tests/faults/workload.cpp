#include "faults/workload.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "faults/history.hpp"

namespace tranca::faults_test {

namespace {

using namespace std::chrono_literals;

// Names of the brief pace change so often that C9 has few attempts to search through.
constexpr instant epoch = 25'000'000;

const std::vector<std::string> pace_names{"dense", "sparse", "brief"};

acquisition of(const std::string& name, const acquirable auto& primitive, bool shared = false) {
    return {{name}, shared, [primitive](milliseconds wait) { return primitive.try_acquire_for(wait); }};
}

pace pace_from(const std::string& word) {
    const auto found = std::ranges::find(pace_names, word);
    if (found == pace_names.end()) throw std::runtime_error{"no pace: " + word};
    return static_cast<pace>(found - pace_names.begin());
}

std::vector<std::string> split(const std::string& text) {
    std::istringstream in{text};
    std::vector<std::string> parts;
    for (std::string part; std::getline(in, part, ',');)
        parts.push_back(part);
    return parts;
}

// A client whose wall clock is as many milliseconds ahead as its number says, every other one behind.
ladder::wall_clock skewed_by(std::int64_t client) {
    const milliseconds skew{client % 2 == 0 ? 300 * client : -300 * client};
    return [skew] { return std::chrono::system_clock::now() + skew; };
}

}  // namespace

workload_settings settings_from(const std::vector<std::string>& words) {
    workload_settings made;
    for (const auto& word : words) {
        const auto middle = word.find('=');
        const auto name = word.substr(0, middle);
        const auto value = middle == std::string::npos ? "" : word.substr(middle + 1);
        if (name == "kind") made.kind = value;
        else if (name == "urls") made.urls = split(value);
        else if (name == "file") made.file = value;
        else if (name == "resource") made.resource = value;
        else if (name == "seed") made.seed = std::stoull(value);
        else if (name == "client") made.client = std::stoll(value);
        else if (name == "threads") made.threads = std::stoll(value);
        else if (name == "ttl") made.ttl = milliseconds{std::stoll(value)};
        else if (name == "wait") made.wait = milliseconds{std::stoll(value)};
        else if (name == "hold") made.hold = milliseconds{std::stoll(value)};
        else if (name == "limit") made.limit = std::stoll(value);
        else if (name == "pace") made.pace = pace_from(value);
        else if (name == "broken") made.broken = value;
        else throw std::runtime_error{"no setting: " + word};
    }
    return made;
}

std::vector<std::string> words_of(const workload_settings& from) {
    const auto urls = std::accumulate(from.urls.begin(), from.urls.end(), std::string{},
                                      [](auto all, const auto& url) { return all.empty() ? url : all + "," + url; });
    return {"kind=" + from.kind,
            "urls=" + urls,
            "file=" + from.file,
            "resource=" + from.resource,
            "seed=" + std::to_string(from.seed),
            "client=" + std::to_string(from.client),
            "threads=" + std::to_string(from.threads),
            "ttl=" + std::to_string(from.ttl.count()),
            "wait=" + std::to_string(from.wait.count()),
            "hold=" + std::to_string(from.hold.count()),
            "limit=" + std::to_string(from.limit),
            "pace=" + pace_names.at(static_cast<std::size_t>(from.pace)),
            "broken=" + from.broken};
}

workload::workload(const workload_settings& settings) : settings_{settings} {
    for (const auto& url : settings_.urls)
        clients_.emplace_back(url + "?command_timeout=300ms&connect_timeout=300ms");
    if (settings_.kind.starts_with("quorum"))
        quorum_.emplace(std::span<const client>{clients_}, name(),
                        quorum_options{.lease = lease(),
                                       .confirmations = settings_.kind == "quorum_firm" ? confirmations::one_more
                                                                                        : confirmations::majority,
                                       .time_limit = 60ms});
    const auto all = makers();
    const auto found = all.find(settings_.kind);
    if (found == all.end()) throw std::runtime_error{"no kind: " + settings_.kind};
    make_ = found->second;
}

acquisition workload::next(std::mt19937_64& random) const { return make_(name(), random); }

std::string workload::name() const {
    return settings_.pace == pace::brief ? "thing-" + std::to_string(now() / epoch) : "thing";
}

// Every other client is renewed by itself; the others extend by hand, or do not.
lease_options workload::lease() const {
    lease_options made;
    made.ttl = settings_.ttl;
    if (settings_.client % 2 == 0) made.renew_every = 0ms;
    return made;
}

std::map<std::string, workload::maker> workload::makers() const {
    using chance = std::mt19937_64;
    const auto plain = [this] { return lease_options{.ttl = settings_.ttl}; };
    std::map<std::string, maker> made;
    made["mutex"] = [this](const auto& name, chance&) { return of(name, mutex{redis(), name, {.lease = lease()}}); };
    made["fair"] = [this](const auto& name, chance&) {
        // Long where nobody comes to harm, so that a call-up that is lost costs a slice.
        const milliseconds silence = settings_.pace == pace::sparse ? 4s : 300ms;
        return of(name, mutex{redis(), name, {.lease = lease(), .fairness = fairness::on, .waiter_lease = silence}});
    };
    made["semaphore"] = [this](const auto& name, chance& random) {
        const semaphore calls{redis(), name, settings_.limit, {.lease = lease()}};
        const bool several = settings_.pace == pace::dense && settings_.limit > 2 && random() % 8 == 0;
        return of(name, several ? calls.weighted(2) : calls);
    };
    made["shared"] = [this](const auto& name, chance& random) {
        const shared_mutex lock{redis(), name, {.lease = lease()}};
        return random() % 3 == 0 ? of(name, lock) : of(name, lock.shared(), true);
    };
    made["multi"] = [this](const auto&, chance& random) { return several(random); };
    for (const auto* kind : {"quorum", "quorum_firm"})
        made[kind] = [this](const auto& name, chance&) { return of(name, *quorum_); };
    made["naive"] = [this](const auto& name, chance&) { return of(name, ladder::naive_lock{redis(), name}); };
    made["px"] = [this, plain](const auto& name, chance&) {
        return of(name, ladder::px_lock{redis(), name, {.lease = plain()}});
    };
    made["clock_semaphore"] = [this, plain](const auto& name, chance&) {
        return of(name, ladder::clock_semaphore{
                            redis(), name, settings_.limit, {.lease = plain(), .now = skewed_by(settings_.client)}});
    };
    return made;
}

// One or two of three names in any order: some go by the mutex, whose names those are too.
acquisition workload::several(std::mt19937_64& random) const {
    std::vector<std::string> names{"a", "b", "c"};
    std::ranges::shuffle(names, random);
    names.resize(1 + random() % 2);
    if (names.size() == 1) return of(names.front(), mutex{redis(), names.front(), {.lease = lease()}});
    const multi_mutex both{redis(), std::span<const std::string>{names}, {.lease = lease()}};
    return {names, false, [both](milliseconds wait) { return both.try_acquire_for(wait); }};
}

}  // namespace tranca::faults_test
