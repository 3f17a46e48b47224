# Prints the statement coverage of each package in a Go cover profile and fails below `least` percent. The servers for tests are
# listed, not judged.
NR > 1 {
	split($1, place, ":")
	package = place[1]
	sub(/\/[^\/]*$/, "", package)
	block = $1
	size[block] = $2
	home[block] = package
	if ($3 > 0) hit[block] = 1
}
END {
	for (block in size) {
		all[home[block]] += size[block]
		if (block in hit) covered[home[block]] += size[block]
	}
	for (package in all) {
		percent = 100 * covered[package] / all[package]
		judged = package !~ /\/redistest$/
		verdict = !judged ? "  (servers for tests)" : percent < least ? "  below " least " %" : ""
		printf "coverage: %5.1f %% of statements  %s%s\n", percent, package, verdict | "sort -k5"
		if (judged && percent < least) bad = 1
	}
	close("sort -k5")
	exit bad
}
