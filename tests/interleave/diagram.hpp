// diagram: a schedule for people, one column a client, one line a step.
//
//     diagram steps{2};
//     steps.add(0, "SETNX lock:thing <A>");  steps.add(1, "SETNX lock:thing <B>");  steps.add_remark("A crashes");
//     std::cout << steps.text();
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tranca::interleave {

class diagram {
public:
    explicit diagram(std::size_t clients) : clients_(clients) {}

    void add(std::size_t client, std::string what) { lines_.push_back({client, std::move(what)}); }
    void add_remark(std::string what) { lines_.push_back({clients_, std::move(what)}); }  // of nobody's doing
    [[nodiscard]] std::string text() const;

private:
    struct line {
        std::size_t column;
        std::string what;
    };

    std::size_t clients_;
    std::vector<line> lines_;
};

}  // namespace tranca::interleave
