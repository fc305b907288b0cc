#pragma once

// A part of the benchmark. A new one is one new file in this folder:
//
//     class handoff final : public section {
//         std::string_view name() const override { return "handoff"; }
//         std::string_view summary() const override { return "from release to the next holder"; }
//         void run(const stage& where, findings& found) override { ... }
//     };
//     const enlisted<handoff> here{40};     // sections run in the order of these numbers
//
// run() adds to `found` as it goes, so that an interrupt or a failure keeps what was measured until then. It looks at
// interrupt::requested() between its steps, measures in child processes (crew.hpp), and starts no thread.

#include <memory>
#include <string_view>
#include <vector>

#include "report/findings.hpp"
#include "sections/stage.hpp"

namespace CLI {
class App;
}

namespace tranca::bench {

class section {
public:
    virtual ~section() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual std::string_view summary() const = 0;
    /// Command line options of its own.
    virtual void add_options(CLI::App&) {}
    virtual void run(const stage& where, findings& found) = 0;
};

/// All sections in order.
std::vector<std::shared_ptr<section>> all_sections();

void enlist(int rank, std::shared_ptr<section> part);

template <class Section>
struct enlisted {
    explicit enlisted(int rank) { enlist(rank, std::make_shared<Section>()); }
};

}  // namespace tranca::bench
