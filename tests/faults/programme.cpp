// The fault programme: real processes, a nemesis, and checkers that read what came of it.
//
//     tranca_faults                          each cell once: about a minute
//     tranca_faults --only 'mutex_.*'        some of them
//     tranca_faults --minutes 60             all of them again and again, longer each time, with other seeds
//     tranca_faults --seed 12345             the same faults and choices again
//
// A cell that is to break, and did not, is tried twice more: a fault may hit a moment at which nobody held. TRANCA_REPORT names a
// file to which one JSON line a run is appended. The last line is "N passed, N failed".
#include <cstdlib>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <regex>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "faults/trial.hpp"
#include "support/deadline.hpp"

namespace tranca::faults_test {
namespace {

using namespace std::chrono_literals;

struct options {
    std::string only{".*"};
    std::uint64_t seed{0};
    double minutes{0};
    int jobs{2};
    std::string keep{"fault-histories"};
    bool list{false};
};

// The same for the same cell, whatever else runs.
std::uint64_t seed_of(std::uint64_t base, const std::string& name, int round, int count) {
    std::uint64_t mixed = base ^ 0xcbf29ce484222325U;  // FNV-1a
    for (const char c : name + "/" + std::to_string(round) + "/" + std::to_string(count))
        mixed = (mixed ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return mixed;
}

class programme {
public:
    explicit programme(const options& chosen) : chosen_{chosen} {
        for (const auto& each : cells())
            if (std::regex_match(each.name, std::regex{chosen.only})) cells_.push_back(each);
    }

    int run() {
        std::cout << "seed " << chosen_.seed << " (--seed repeats it)" << std::endl;
        const std::chrono::duration<double, std::ratio<60>> length{chosen_.minutes};
        const testing::deadline end{std::chrono::duration_cast<milliseconds>(length)};
        for (int round = 0; round == 0 || !end.expired(); ++round)
            run_round(round, end);
        std::cout << faults_ << " faults, " << holds_ << " holds checked\n";
        std::cout << passed_ << " passed, " << failed_ << " failed" << std::endl;
        return failed_ == 0 && passed_ > 0 ? 0 : 1;
    }

private:
    // The first one comes to its end, whatever time there is.
    void run_round(int round, const testing::deadline& end) {
        std::atomic<std::size_t> next{0};
        std::vector<std::jthread> jobs;
        for (int job = 0; job < chosen_.jobs; ++job)
            jobs.emplace_back([this, round, &end, &next] {
                for (auto i = next++; i < cells_.size() && (round == 0 || !end.expired()); i = next++)
                    run_cell(cells_[i], round);
            });
    }

    void run_cell(const cell& each, int round) {
        constexpr int tries = 3;
        const auto time = each.time * (1 << std::min(round, 3));
        trial made;
        for (int count = 0; count < tries; ++count) {
            made = faults_test::run(each, seed_of(chosen_.seed, each.name, round, count), time, chosen_.keep);
            tell(made, each);
            if (each.breaks.empty() || made.is_as_expected || !made.found.empty() || !made.failure.empty()) break;
        }
        const std::lock_guard lock{telling_};
        ++(made.is_as_expected ? passed_ : failed_);
    }

    void tell(const trial& made, const cell& each) {
        const std::lock_guard lock{telling_};
        faults_ += made.sum.faults;
        holds_ += made.sum.grants;
        std::cout << text_of(made, each) << std::endl;
        if (!made.is_as_expected) {
            for (std::size_t i = 0; i < std::min<std::size_t>(made.found.size(), 5); ++i)
                std::cout << "       " << made.found[i] << '\n';
            std::cout << "       seed of this run: " << made.seed << ", history: " << chosen_.keep << "/" << made.cell
                      << ".history.jsonl" << std::endl;
        }
        if (const char* const report = std::getenv("TRANCA_REPORT"))
            std::ofstream{report, std::ios::app} << json_of(made, each);
    }

    options chosen_;
    std::vector<cell> cells_;
    std::mutex telling_;  // guards what follows, and the output
    std::size_t faults_{0};
    std::size_t holds_{0};
    int passed_{0};
    int failed_{0};
};

}  // namespace
}  // namespace tranca::faults_test

int main(int count, char** words) {
    using namespace tranca::faults_test;
    options chosen;
    chosen.seed = std::random_device{}();
    CLI::App app{"Locks and semaphores among faults, and what came of it"};
    app.add_option("--only", chosen.only, "A regular expression for the names of the cells");
    app.add_option("--seed", chosen.seed, "Repeats a run, as far as the operating system does");
    app.add_option("--minutes", chosen.minutes, "Goes on for that long; 0: each cell once");
    app.add_option("--jobs", chosen.jobs, "Cells at a time: they wait more than they work")->check(CLI::PositiveNumber);
    app.add_option("--keep", chosen.keep, "Folder for histories of runs that came out wrong");
    app.add_flag("--list", chosen.list, "Names the cells and does nothing");
    CLI11_PARSE(app, count, words);
    try {
        if (!chosen.list) return programme{chosen}.run();
        for (const auto& each : cells())
            std::cout << each.name << '\n';
    } catch (const std::exception& failure) {
        std::cerr << "tranca_faults: " << failure.what() << "\n0 passed, 1 failed" << std::endl;
        return 1;
    }
}
