#include <tranca/chance.hpp>

#include <random>

namespace tranca {

double chance() {
    thread_local std::minstd_rand numbers{std::random_device{}()};
    return std::uniform_real_distribution<>{0, 1}(numbers);
}

}  // namespace tranca
