// What the counting sink says of events, to people and to Prometheus.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <latch>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tranca/counters.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// As many as have a name.
std::vector<event::kind> every_kind() {
    std::vector<event::kind> kinds;
    for (int number = 0; to_string(static_cast<event::kind>(number)) != "unknown"; ++number)
        kinds.push_back(static_cast<event::kind>(number));
    return kinds;
}

void tell(counters& numbers, event::kind what, std::chrono::nanoseconds elapsed = {}) {
    numbers.on({.what = what, .key = "a:key", .detail = "a \"detail\"", .elapsed = elapsed});
}

// A page of Prometheus' text format, checked line by line; each sample by its name and labels as written.
class prometheus_page {
public:
    explicit prometheus_page(const std::string& text) {
        EXPECT_TRUE(!text.empty() && text.back() == '\n') << "the last line has no end";
        std::istringstream lines{text};
        for (std::string line; std::getline(lines, line);)
            read(line);
    }

    double operator[](const std::string& sample) const {
        const auto found = samples_.find(sample);
        EXPECT_NE(found, samples_.end()) << sample;
        return found == samples_.end() ? -1 : found->second;
    }

    const std::map<std::string, double>& samples() const { return samples_; }

    // What the buckets of a histogram say, in the order of the page.
    struct bucket {
        double bound;
        double count;
    };
    const std::vector<bucket>& buckets_of(const std::string& family) { return buckets_[family]; }

private:
    void read(const std::string& line) {
        static const std::regex help{"# HELP ([a-zA-Z_][a-zA-Z0-9_]*) [^\\\\]+"};
        static const std::regex type{"# TYPE ([a-zA-Z_][a-zA-Z0-9_]*) (counter|histogram)"};
        static const std::regex sample{"([a-zA-Z_][a-zA-Z0-9_]*)(\\{([a-z]+)=\"([^\"\\\\]*)\"\\})? ([0-9.e+-]+)"};
        std::smatch parts;
        if (std::regex_match(line, parts, help)) {
            EXPECT_TRUE(types_.emplace(parts[1], "").second) << "explained twice: " << line;
            family_ = parts[1];
        } else if (std::regex_match(line, parts, type)) {
            EXPECT_EQ(family_, parts[1]) << "HELP and TYPE belong together";
            types_[family_] = parts[2];
        } else if (std::regex_match(line, parts, sample)) {
            read_sample(parts[1], parts[3], parts[4], parts[5]);
        } else {
            ADD_FAILURE() << "neither HELP nor TYPE nor a sample: " << line;
        }
    }

    void read_sample(const std::string& name, const std::string& label, const std::string& labelled,
                     const std::string& number) {
        char* end = nullptr;
        const double value = std::strtod(number.c_str(), &end);
        EXPECT_EQ(*end, '\0') << number;
        const auto written = label.empty() ? name : name + "{" + label + "=\"" + labelled + "\"}";
        EXPECT_TRUE(samples_.emplace(written, value).second) << "twice: " << written;
        if (types_[family_] == "counter") {
            EXPECT_EQ(name, family_);
            EXPECT_THAT(name, ::testing::EndsWith("_total"));
        } else if (name == family_ + "_bucket") {
            EXPECT_EQ(label, "le");
            buckets_[family_].push_back({std::strtod(labelled.c_str(), nullptr), value});
        } else {
            EXPECT_TRUE(name == family_ + "_sum" || name == family_ + "_count") << name;
        }
    }

    std::string family_;
    std::map<std::string, std::string> types_;
    std::map<std::string, double> samples_;
    std::map<std::string, std::vector<bucket>> buckets_;
};

TEST(Counters, CountEveryKindByItself) {
    const auto kinds = every_kind();
    ASSERT_EQ(kinds.size(), 11U);
    counters numbers;
    for (std::size_t index = 0; index < kinds.size(); ++index)
        for (std::size_t times = 0; times <= index; ++times)
            tell(numbers, kinds[index]);
    const prometheus_page page{numbers.prometheus()};
    for (std::size_t index = 0; index < kinds.size(); ++index) {
        const std::string name{to_string(kinds[index])};
        EXPECT_EQ(numbers.count(kinds[index]), index + 1) << name;
        EXPECT_EQ(page["tranca_events_total{kind=\"" + name + "\"}"], static_cast<double>(index + 1));
        EXPECT_THAT(numbers.text(), HasSubstr(name + std::string(28 - name.size(), ' ')));
    }
}

TEST(Counters, DropAKindTheyDoNotKnow) {
    counters numbers;
    for (const int number : {11, 1'000'000, -1}) {
        tell(numbers, static_cast<event::kind>(number), 1s);
        EXPECT_EQ(numbers.count(static_cast<event::kind>(number)), 0U);
    }
    EXPECT_EQ(numbers.prometheus(), counters{}.prometheus());
}

TEST(Counters, MeasureTheWaitOfAcquisitionsAndTheHoldOfReleasesOnly) {
    counters numbers;
    for (const auto what : every_kind())
        tell(numbers, what, what == event::kind::acquired ? 2ms : what == event::kind::released ? 5s : 1h);
    EXPECT_EQ(numbers.wait().count(), 1U);
    EXPECT_EQ(numbers.wait().sum(), 2ms);
    EXPECT_EQ(numbers.hold().count(), 1U);
    EXPECT_EQ(numbers.hold().sum(), 5s);
}

TEST(Counters, LoseNothingWhenThreadsTellAtOnce) {
    counters numbers;
    std::latch start{4};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&numbers, &start] {
            start.arrive_and_wait();
            for (int times = 0; times < 10'000; ++times) {
                tell(numbers, event::kind::acquired, 1ms);
                tell(numbers, event::kind::released, 1us);
            }
        });
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(numbers.count(event::kind::acquired), 40'000U);
    EXPECT_EQ(numbers.count(event::kind::released), 40'000U);
    EXPECT_EQ(numbers.wait().sum(), 40s);
    EXPECT_EQ(numbers.hold().sum(), 40ms);
}

TEST(Counters, SayNothingOfKeysAndDetails) {
    counters numbers;
    for (const auto what : every_kind())
        tell(numbers, what, 1ms);
    for (const auto& said : {numbers.text(), numbers.prometheus()}) {
        EXPECT_THAT(said, Not(HasSubstr("a:key")));
        EXPECT_THAT(said, Not(HasSubstr("detail")));
    }
}

TEST(CountersText, IsATableOfCountsAndTimes) {
    counters numbers;
    for (int times = 0; times < 3; ++times)
        tell(numbers, event::kind::acquired, 7ns);
    tell(numbers, event::kind::released, 40ms);
    const auto table = numbers.text();
    EXPECT_THAT(table, StartsWith("event "));
    EXPECT_THAT(table, ContainsRegex("\nacquired  +3\n"));
    EXPECT_THAT(table, ContainsRegex("\nbusy  +0\n"));
    EXPECT_THAT(table, ContainsRegex("\ntime  +count  +mean  +median  +99 %  +longest\n"));
    EXPECT_THAT(table, ContainsRegex("\nwait  +3  +7 ns  +7 ns  +7 ns  +7 ns\n"));
    EXPECT_THAT(table, ContainsRegex("\nhold  +1  +40\\.0 ms  +41\\.9 ms  +41\\.9 ms  +41\\.9 ms\n"));
}

TEST(CountersText, HasNoMeanOfNothing) { EXPECT_THAT(counters{}.text(), ContainsRegex("\nhold  +0  +0 ns  +0 ns ")); }

TEST(CountersPrometheus, ParsesWhenEmptyAndWhenFull) {
    counters numbers;
    const prometheus_page empty{numbers.prometheus()};
    for (const auto& [sample, value] : empty.samples())
        EXPECT_EQ(value, 0) << sample;
    for (const auto what : every_kind())
        for (const auto elapsed : {-1ns, 0ns, 1ns, std::chrono::nanoseconds{70s}, std::chrono::nanoseconds::max()})
            tell(numbers, what, elapsed);
    const prometheus_page full{numbers.prometheus()};
    EXPECT_EQ(full.samples().size(), empty.samples().size()) << "a series must be there from the start";
    EXPECT_EQ(full["tranca_wait_seconds_count"], 5);
}

TEST(CountersPrometheus, HasCumulativeBucketsThatEndWithAll) {
    counters numbers;
    for (const auto elapsed : {50us, 900us, 2'000us, 2'000us, 70'000'000us})
        tell(numbers, event::kind::acquired, elapsed);
    prometheus_page page{numbers.prometheus()};
    EXPECT_EQ(page["tranca_wait_seconds_bucket{le=\"0.0001\"}"], 1);
    EXPECT_EQ(page["tranca_wait_seconds_bucket{le=\"0.001\"}"], 2);
    EXPECT_EQ(page["tranca_wait_seconds_bucket{le=\"0.0025\"}"], 4);
    EXPECT_EQ(page["tranca_wait_seconds_bucket{le=\"60\"}"], 4);
    EXPECT_EQ(page["tranca_wait_seconds_bucket{le=\"+Inf\"}"], 5);
    EXPECT_EQ(page["tranca_wait_seconds_count"], 5);
    EXPECT_DOUBLE_EQ(page["tranca_wait_seconds_sum"], 70.00495);
    for (const std::string family : {"tranca_wait_seconds", "tranca_hold_seconds"}) {
        const auto& buckets = page.buckets_of(family);
        ASSERT_EQ(buckets.size(), 19U);
        for (std::size_t index = 1; index < buckets.size(); ++index) {
            EXPECT_GT(buckets[index].bound, buckets[index - 1].bound);
            EXPECT_GE(buckets[index].count, buckets[index - 1].count);
        }
        EXPECT_EQ(buckets.back().count, page[family + "_count"]);
    }
}

TEST(CountersPrometheus, NeverGoesDownBetweenTwoScrapes) {
    counters numbers;
    std::atomic<bool> done{false};
    std::thread writer{[&] {
        while (!done) {
            tell(numbers, event::kind::acquired, 30us);
            tell(numbers, event::kind::acquired, 3s);
            tell(numbers, event::kind::released, 3ms);
        }
    }};
    prometheus_page before{numbers.prometheus()};
    for (int scrape = 0; scrape < 20; ++scrape) {
        prometheus_page after{numbers.prometheus()};
        for (const auto& [sample, value] : before.samples())
            EXPECT_GE(after[sample], value) << sample;
        before = after;
    }
    done = true;
    writer.join();
}

TEST(CountersPrometheus, TakesAnotherPrefix) {
    const auto page = counters{}.prometheus("my_app2");
    EXPECT_THAT(page, HasSubstr("\nmy_app2_events_total{kind=\"acquired\"} 0\n"));
    EXPECT_THAT(page, HasSubstr("# TYPE my_app2_hold_seconds histogram\n"));
    EXPECT_THAT(page, Not(HasSubstr("tranca")));
}

TEST(CountersPrometheus, RefusesAPrefixThatIsNoMetricName) {
    for (const std::string_view prefix : {"", "2fast", "my-app", "my app", "a{b", "a\nb", "rule:a", "\xc3\xa9"}) {
        const auto failure = thrown_by([&] { return counters{}.prometheus(prefix); });
        EXPECT_EQ(failure.code(), errc::invalid_argument);
        EXPECT_THAT(failure.text(), HasSubstr(prefix));
    }
}

}  // namespace
}  // namespace tranca::testing
