# Binary packages of a newer Debian (or Ubuntu) than this machine's, unpacked into a folder: nothing is installed and no
# rights are needed. Sourced by cmake/hiredis1 and cmake/servers, which define
#
#   give_up REASON...                        says why not, and ends the script
#
# and find here
#
#   newer_debian_suite                       this machine's own suite, empty if it has no name
#   newer_debian_open FOLDER SUITE           makes an apt configuration in FOLDER, for that suite; the others use it
#   newer_debian_update                      fetches the suite's lists
#   newer_debian_depends PACKAGE...          prints what they depend on, one name a line
#   newer_debian_libraries PACKAGE...        prints the libraries they need, directly or not
#   newer_debian_unpack ROOT PACKAGE...      downloads just these packages; replaces ROOT by what they hold
#
# The packages come from the machine's own package sources with another suite name. Only newer_debian_open gives up; the
# others return non-zero, and what they and apt say on the way is for a log.

newer_debian_suite() { (. /etc/os-release && echo "${VERSION_CODENAME-}"); }

newer_debian_open() {
    newer_debian_folder=$1
    # apt and its configuration would take these for syntax.
    [[ $1 != *[\"\;\\]* && $1 != *$'\n'* ]] || give_up "apt cannot work below $1"
    local tool
    for tool in apt-get apt-cache dpkg; do
        command -v $tool >/dev/null || give_up "there is no $tool"
    done
    newer_debian_sources "$(newer_debian_suite)" "$2"
    newer_debian_configuration
}

# A source that lacks the suite makes this fail, and need not be the one that has the packages: the download will tell.
newer_debian_update() { newer_debian_apt get update || true; }

newer_debian_apt() {
    local tool=apt-$1
    shift
    timeout 300 "$tool" -q -c "$newer_debian_folder/apt.conf" "$@"
}

# The machine's sources with the other suite name: one-line files and deb822 stanzas that speak of this suite. In a
# one-line entry the suite is the word after the address; in a stanza it is the field Suites.
newer_debian_sources() {
    local this_suite=$1 next_suite=$2 sources=$newer_debian_folder/sources file
    rm -rf "$sources"
    mkdir -p "$sources"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [[ -f $file ]] || continue
        sed -nE "/^[[:space:]]*deb[[:space:]]/{
            s/^([[:space:]]*deb[[:space:]]+(\[[^]]*\][[:space:]]+)?[^[:space:]]+[[:space:]]+)$this_suite([^[:space:]]*)/\1$next_suite\3/p
        }" "$file" >>"$sources/derived.list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -f $file ]] || continue
        awk -v this="$this_suite" -v next_suite="$next_suite" '
            BEGIN { RS = ""; FS = "\n" }
            {
                stanza = ""; wanted = 0; binary = 0
                for (i = 1; i <= NF; i++) {
                    line = $i
                    if (tolower(line) ~ /^suites:/ && index(line, this)) { gsub(this, next_suite, line); wanted = 1 }
                    if (tolower(line) ~ /^types:/ && line ~ /[: \t]deb([ \t]|$)/) binary = 1
                    if (tolower(line) ~ /^enabled:[ \t]*(no|false)/) binary = 0
                    stanza = stanza line "\n"
                }
                if (wanted && binary) print stanza
            }' "$file" >>"$sources/derived.sources"
    done
    find "$sources" -type f -empty -delete
    [[ -n $(find "$sources" -type f) ]] || give_up "no package source of this machine speaks of $this_suite"
}

# Everything of apt's that is written lies in the folder. Hooks of the machine's own apt are not for us.
newer_debian_configuration() {
    local apt=$newer_debian_folder
    mkdir -p "$apt"/{state/lists/partial,cache/archives/partial}
    : >"$apt/status"
    cat >"$apt/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/sources";
Dir::State "$apt/state";
Dir::State::lists "$apt/state/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Cache::archives "$apt/cache/archives";
Dir::Log "$apt";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-hidpi::DefaultEnabled "false";
APT::Sandbox::User "";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
CONF
}

# Names in angle brackets are no packages of this suite.
newer_debian_depends() {
    newer_debian_apt cache depends "$@" | sed -nE 's/^[ |]*(Pre)?Depends: ([^<: ]+).*$/\2/p' | sort -u
}

newer_debian_libraries() {
    local known=' ' next=("$@") found package
    while ((${#next[@]} > 0)); do
        found=$(newer_debian_depends "${next[@]}") || return
        next=()
        for package in $found; do
            if [[ $package =~ ^z?lib && $known != *" $package "* ]]; then
                known+="$package "
                next+=("$package")
                echo "$package"
            fi
        done
    done
}

newer_debian_unpack() {
    local root=$1 packages=$newer_debian_folder/packages package
    shift
    rm -rf "$packages" "$root" "$root.new"
    mkdir -p "$packages" "$root.new"
    (cd "$packages" && newer_debian_apt get download "$@") || return
    for package in "$packages"/*.deb; do
        dpkg -x "$package" "$root.new" || return
    done
    mv "$root.new" "$root"
    rm -rf "$packages"
}
