#pragma once

// What a section found out, in the four forms a reader may want: rows for a program, tables and claims for a person at a
// terminal, plots for a person at a page. The reports know nothing of what is measured.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tranca::bench {

struct column {
    std::string name;
    bool text = false;  ///< Text stands left, numbers right.
    std::string group;  ///< Columns of one group stand under one heading; empty: none.
};

struct table {
    std::string title;
    std::vector<column> columns;
    std::vector<std::vector<std::string>> rows;  ///< An empty row is a thin line.
    std::vector<std::string> notes;              ///< How to read it: a sentence each.
};

/// Something the run must show.
struct claim {
    std::string text;
    bool holds = false;
    std::string figures;
};

/// One series of a plot: y over x, or one bar for each label.
struct series {
    std::string name;
    std::vector<double> x;
    std::vector<double> y;
};

struct plot {
    enum class form {
        bars,   ///< Groups of bars; labels name the groups.
        dots,   ///< One row for each label, a dot for each series.
        lines,  ///< x and y on logarithmic axes.
    };
    std::string title;    ///< The question it answers.
    std::string caption;  ///< What to see, and what is better.
    std::string axis;     ///< What the numbers are. On a logarithmic axis seconds are written as "10 us", "1 ms".
    form kind = form::bars;
    bool logarithmic = false;         ///< The axis of the numbers.
    std::vector<std::string> labels;  ///< Of the groups, or of the x axis.
    std::vector<series> data;
    std::vector<double> limits;  ///< Thin lines at these values.
    std::string partner;         ///< Plots with the same partner stand side by side; empty: alone.
};

struct findings {
    std::string name;  ///< Of the section: the key of its rows in the JSON file.
    nlohmann::json rows = nlohmann::json::array();
    std::vector<table> tables;
    std::vector<claim> claims;
    std::vector<plot> plots;
    std::vector<std::string> failures;  ///< Any one makes the whole run fail.
};

}  // namespace tranca::bench
