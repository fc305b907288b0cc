#pragma once

// Tells on stderr what is being measured: on a terminal one line that is rewritten, otherwise a line for each step.

#include <string>

namespace tranca::bench {

class progress {
public:
    progress();
    ~progress() { clear(); }
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// A step begins; `seconds` is how long it will take (0: not known).
    void begin(std::string what, double seconds);
    /// Somewhere in the step.
    void tick(double elapsed);
    /// Wipes the line, so that other text can be printed.
    void clear();

private:
    std::string what_;
    double seconds_ = 0;
    bool terminal_;
    bool shown_ = false;
};

}  // namespace tranca::bench
