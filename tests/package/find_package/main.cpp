#include <cstdio>

#include <tranca/tranca.hpp>

int main() {
    std::printf("token: %zu digits\n", tranca::token::generate().text().size());
    try {
        tranca::endpoint::parse("bad");
    } catch (const tranca::error& failure) {
        std::printf("refused: %s\n", failure.what());
        return 0;
    }
    return 1;
}
